import { readFileSync } from 'node:fs'

/** The child process of a platform that has the peer connections, or the rooms of LiveKit. */
export function peerProcessOf(pid: number, worker: 'peer-worker' | 'room-worker' = 'peer-worker'): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  const found = children.find(child => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes(worker))
  if (found === undefined) throw new Error(`process ${pid} has no child that runs ${worker}`)
  return Number(found)
}
