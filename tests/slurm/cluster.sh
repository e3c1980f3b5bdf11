#!/usr/bin/env bash
# A Slurm cluster on this machine, for tests: `cluster.sh up FOLDER OWNER`, `cluster.sh down FOLDER`.
#
# It ends with the process OWNER, however that ends: a watcher then stops Slurm, and kills every
# process whose environment says TEST_CLUSTER=FOLDER.
# Nodes c1 and c2 (partition cpu), g1 (two pretended GPUs, partition gpu), and s1 and s2 (partition
# storm, whose nodes go down in tests), all on this host; their 16 processors and 32 GB each are
# pretended, too. A job of the partition urgent takes c1, c2 or g1 from the jobs of the others,
# which Slurm then runs again. Root only; no systemd, no munge, no database. Slurm reads its
# configuration from /etc/slurm alone (its own srun loses SLURM_CONF inside a job), so it is written
# there and removed again. What was started is stopped by its process id.
set -euo pipefail
export LC_ALL=C

die() { echo "error: $*" >&2; exit 1; }

usage="usage: $0 up|watch FOLDER OWNER, or $0 down FOLDER"
case $#:${1-} in 3:up | 3:watch | 2:down) ;; *) die "$usage" ;; esac
command=$1
folder=$(realpath -m "$2")
owner=${3-}
host=$(hostname -s)
nodes=(c1 c2 g1 s1 s2)
etc=/etc/slurm
mark="# written by tests/slurm/cluster.sh"

install() {
  command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v sbatch >/dev/null && return
  command -v apt-get >/dev/null ||
    die "Slurm is not installed, and there is no apt-get to install it with; install slurmctld, slurmd and slurm-client, then run this again"
  local log="$folder/log/apt.log"
  { apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      slurmctld slurmd slurm-client; } >"$log" 2>&1 ||
    die "Slurm could not be installed by apt-get: $(grep -m1 '^E:' "$log" || tail -n 1 "$log") (all of it: $log)"
}

ours() { [ -f "$1" ] && head -n 1 "$1" | grep -qxF "$mark"; }

this_one() { ours "$etc/slurm.conf" && grep -qxF "StateSaveLocation=$folder/state" "$etc/slurm.conf"; }

alive() { # a zombie is dead: nobody may reap it here
  local stat
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  case "${stat##*) }" in Z*) return 1 ;; esac
}

write_configuration() {
  mkdir -p "$etc"
  local file former
  if ours "$etc/slurm.conf"; then
    former=$(sed -n 's/^StateSaveLocation=\(.*\)\/state$/\1/p' "$etc/slurm.conf")
    if [ -s "$former/run/owner" ] && alive "$(cat "$former/run/owner")"; then
      die "other tests (process $(cat "$former/run/owner")) have a Slurm on this machine; start again when they have ended"
    fi
    (folder=$former && down) # of tests that were killed together with their watcher
  fi
  for file in slurm.conf gres.conf; do
    [ ! -e "$etc/$file" ] || ours "$etc/$file" ||
      die "$etc/$file belongs to a Slurm of this machine's own, and stays as it is; run these tests on a machine that has none"
  done
  { echo "$mark"
    echo "NodeName=g1 Name=gpu File=$folder/dev/gpu[0-1]"
  } >"$etc/gres.conf"
  { echo "$mark"
    cat <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=sched_min_interval=0,sched_interval=2,bf_interval=1
SlurmctldTimeout=600
SlurmdTimeout=600
MinJobAge=3600
KillWait=5
ReturnToService=1
GresTypes=gpu
NodeName=c[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[17001-17002] CPUs=16 RealMemory=32000 State=UNKNOWN
NodeName=g1 NodeHostname=$host NodeAddr=127.0.0.1 Port=17003 CPUs=16 RealMemory=32000 Gres=gpu:2 State=UNKNOWN
NodeName=s[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[17004-17005] CPUs=16 RealMemory=32000 State=UNKNOWN
PartitionName=storm Nodes=s[1-2] LLN=YES MaxTime=1440 DefMemPerCPU=500 State=UP
PartitionName=cpu Nodes=c[1-2] Default=YES LLN=YES MaxTime=1440 DefMemPerCPU=500 State=UP
PartitionName=gpu Nodes=g1 MaxTime=1440 DefMemPerCPU=500 State=UP
PartitionName=urgent Nodes=c[1-2],g1 PriorityTier=10 PreemptMode=OFF MaxTime=1440 DefMemPerCPU=500 State=UP
END
  } >"$etc/slurm.conf"
}

remove_configuration() {
  local file
  for file in slurm.conf gres.conf; do
    if ours "$etc/$file"; then rm "$etc/$file"; fi
  done
}

up() {
  [ "$(id -u)" = 0 ] || die "a test cluster needs root: Slurm starts jobs in its users' names"
  mkdir -p "$folder"
  [ -z "$(ls "$folder")" ] || die "$folder is not empty; name a new folder"
  mkdir "$folder"/{state,log,run,dev}
  install
  write_configuration
  echo "$owner" >"$folder/run/owner"
  env -u TEST_CLUSTER setsid "$0" watch "$folder" "$owner" </dev/null >"$folder/log/watch.log" 2>&1 &
  local node i
  for node in "${nodes[@]}"; do mkdir -p "$folder/spool/$node"; done
  for i in 0 1; do [ -c "$folder/dev/gpu$i" ] || mknod "$folder/dev/gpu$i" c 1 3; done
  slurmctld
  # what happens on c1, c2 and g1 takes longest, and jobs are as nice as their node
  for node in "${nodes[@]}"; do
    case $node in s*) nice -n 5 slurmd -N "$node" ;; *) slurmd -N "$node" ;; esac
  done
  for _ in $(seq 600); do
    # a node stands there once for each of its partitions
    [ "$(sinfo -h -N -o '%N %t' 2>/dev/null | sort -u | grep -c ' idle$')" = "${#nodes[@]}" ] && return
    sleep 0.2
  done
  sinfo -R >&2 || true
  (down) || true
  die "the nodes of the test cluster did not come up; Slurm's own words are in $folder/log"
}

down() {
  local file pid
  local -a pids=()
  if this_one; then # else these commands would speak to another Slurm
    squeue -h -o %A 2>/dev/null | xargs -r scancel --quiet 2>/dev/null || true
    for _ in $(seq 300); do [ -z "$(squeue -h 2>/dev/null)" ] && break; sleep 0.1; done
  fi
  for file in "$folder"/run/*.pid; do
    [ -s "$file" ] || continue
    pid=$(cat "$file")
    # a process id may have gone to somebody else meanwhile
    case "$(ps -o comm= -p "$pid" 2>/dev/null)" in slurm*) pids+=("$pid"); kill "$pid" || true ;; esac
  done
  if this_one; then remove_configuration; fi
  local left
  for _ in $(seq 150); do
    left=0
    for pid in "${pids[@]}"; do if alive "$pid"; then left=1; fi; done
    [ $left = 0 ] && return
    sleep 0.1
  done
  die "Slurm's own processes ${pids[*]} did not stop"
}

sweep() { # what the tests have started, and its children
  local file
  { grep -lsxzF "TEST_CLUSTER=$folder" /proc/[0-9]*/environ || true; } | while read -r file; do
    file=${file%/environ}
    kill -9 "${file#/proc/}" 2>/dev/null || true
  done
}

watch() {
  while alive "$owner"; do sleep 1; done
  sweep # first of all those that would send new jobs
  (down) || true
  sweep
  findmnt --noheadings --raw --output TARGET --source "$folder" | xargs -r umount || true
}

"$command"
