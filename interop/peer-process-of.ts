import { readFileSync } from 'node:fs'

/** The child process of a platform that has the peer connections. */
export function peerProcessOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  const found = children.find(child => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('peer-worker'))
  if (found === undefined) throw new Error(`process ${pid} has no child for peer connections`)
  return Number(found)
}
