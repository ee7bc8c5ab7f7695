// Measures what collections of young objects leave behind, in a process of its own: what other tests did to V8's heap and to its compiled code does not count. Needs `--expose-gc`; prints a `LeftBehind` as JSON.
import { TransientMap } from './transient-map.ts'
import { TransientSet } from './transient-set.ts'

/** Megabytes that are still used by each kind of table. */
export interface LeftBehind {
  readonly transientMap: number
  readonly transientSet: number
  readonly map: number
}

const collect = (globalThis as { gc?: (options?: { readonly type: 'minor' }) => void }).gc!

/** Objects that are in a collection at once, each of about 16 KB, and how many there are in all. */
const LIVE = 8
const TOTAL = 4_000

interface Collection {
  add(key: number, value: object): () => void
}

/** Megabytes that are still used after many objects have come and gone and the young ones were collected. */
function leftBehind({ add }: Collection): number {
  const removals: (() => void)[] = []
  const turn = (key: number) => {
    removals.push(
      add(
        key,
        Array.from({ length: 500 }, (_, i) => ({ i })),
      ),
    )
    if (removals.length > LIVE) removals.shift()!()
  }
  for (let key = 0; key < LIVE; key++) turn(key)
  // What exists now is in the old generation afterwards.
  collect()
  const before = process.memoryUsage().heapUsed
  for (let key = LIVE; key < TOTAL; key++) turn(key)
  collect({ type: 'minor' })
  collect({ type: 'minor' })
  return (process.memoryUsage().heapUsed - before) / 2 ** 20
}

function inMap(map: TransientMap<number, object> | Map<number, object>): number {
  return leftBehind({
    add: (key, value) => {
      map.set(key, value)
      return () => map.delete(key)
    },
  })
}

const set = new TransientSet<object>()
const measured: LeftBehind = {
  transientMap: inMap(new TransientMap()),
  transientSet: leftBehind({ add: (_, value) => set.add(value) }),
  map: inMap(new Map()),
}
process.stdout.write(JSON.stringify(measured))
