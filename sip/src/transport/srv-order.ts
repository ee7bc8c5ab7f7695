import { type Random, randomBelow } from '@parley/kernel'
import type { SrvRecord } from './dns.ts'

/** RFC 2782: ascending priority; within one priority a weighted random order in which weight 0 is rarely first. */
export function orderSrv(records: readonly SrvRecord[], random: Random): readonly SrvRecord[] {
  const byPriority = new Map<number, SrvRecord[]>()
  for (const record of records) {
    const group = byPriority.get(record.priority)
    if (group === undefined) byPriority.set(record.priority, [record])
    else group.push(record)
  }
  return [...byPriority.keys()].sort((a, b) => a - b).flatMap(priority => drawAll(byPriority.get(priority)!, random))
}

function drawAll(group: readonly SrvRecord[], random: Random): SrvRecord[] {
  // Weight 0 stands first, so that it is drawn only when the draw is 0.
  const left = [...group].sort((a, b) => Number(a.weight !== 0) - Number(b.weight !== 0))
  const ordered: SrvRecord[] = []
  let sum = left.reduce((total, record) => total + record.weight, 0)
  while (left.length > 0) {
    const drawn = randomBelow(random, sum + 1)
    let running = 0
    const at = left.findIndex(record => {
      running += record.weight
      return running >= drawn
    })
    const [record] = left.splice(at, 1)
    sum -= record!.weight
    ordered.push(record!)
  }
  return ordered
}
