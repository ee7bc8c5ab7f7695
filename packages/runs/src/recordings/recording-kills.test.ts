import { createHash } from 'node:crypto'
import type { Blobs, Database } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { joinRecording } from './join-recording.ts'
import type { RecordedRun } from './recording-spool.ts'
import {
  callOf,
  endCall,
  engineOn,
  framesOf,
  machine,
  reapCall,
  record,
  SECOND,
  SEGMENT,
  spooledIn,
  storedRecording,
} from './testing/recorded-calls.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const never = new Promise<never>(() => {})

/** A process that is killed at its `steps`th step outside of itself, before or after that step took effect. */
class Mortal {
  readonly death = Promise.withResolvers<void>()
  readonly #takesEffect: boolean
  #steps: number
  #isLast = false

  constructor(steps: number, takesEffect: boolean) {
    this.#steps = steps
    this.#takesEffect = takesEffect
  }

  async step<Result>(work: () => Promise<Result>): Promise<Result> {
    // The last step may be made of others.
    if (this.#isLast || this.#steps-- > 0) return work()
    if (this.#steps === -1) {
      this.#isLast = this.#takesEffect
      if (this.#takesEffect) await work().catch(() => {})
      this.#isLast = false
      this.death.resolve()
    }
    return never
  }

  blobs(blobs: Blobs): Blobs {
    const step = this.step.bind(this)
    return {
      put: (key, content) => step(() => blobs.put(key, content)),
      // Changes nothing: to be killed here is to be killed at the next step.
      get: (key, range) => blobs.get(key, range),
      size: key => step(() => blobs.size(key)),
      delete: key => step(() => blobs.delete(key)),
      list: prefix => blobs.list(prefix),
    }
  }

  database(database: Database): Database {
    const transaction: Database['transaction'] = (scope, work) => this.step(() => database.transaction(scope, work))
    return { ...database, within: scope => database.within(scope), contents: database.contents, transaction }
  }
}

/** Lives a call's whole recording until `end`, or until killed. Answers how much its writer had written. */
async function liveAndRecord(
  call: RecordedRun,
  home: Awaited<ReturnType<typeof machine>>,
  end: number,
  mortal: Mortal,
) {
  const { spool } = engineOn({ database: mortal.database(test.database) }, { ...home, blobs: mortal.blobs(home.blobs) })
  let written = 0
  let isOver = false
  const life = async () => {
    const { path } = await spool.open(call)
    for (; written < end; await spool.poll()) {
      const next = Math.min(written + 7 * SECOND + 123, end)
      await record(path, written, next)
      written = next
    }
    await record(path, written - (written % SEGMENT), written, true)
    isOver = true
    await spool.close(call.owned.run_id, Math.max(1, Math.ceil(written / SEGMENT)), 60_000)
    await endCall(test, call)
  }
  const isAlive = await Promise.race([life().then(() => true), mortal.death.promise.then(() => false)])
  return { written, isOver, isAlive }
}

it(
  'a recording holds everything that was written, in position, at whatever step its engine and its joiner are killed',
  { timeout: 600_000 },
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({
          seconds: fc.integer({ min: 0, max: 32 }),
          samples: fc.integer({ min: 0, max: 100 }),
          engine: fc.integer({ min: 1, max: 25 }),
          joiner: fc.integer({ min: 0, max: 12 }),
          takesEffect: fc.boolean(),
        }),
        async ({ seconds, samples, engine, joiner, takesEffect }) => {
          const home = await machine()
          try {
            const call = await callOf(test)
            const end = seconds * SECOND + samples
            const life = await liveAndRecord(call, home, end, new Mortal(engine, takesEffect))
            if (!life.isAlive) await reapCall(test, call)
            await restart(home)
            await dieJoining(home, call, new Mortal(joiner, takesEffect))
            const { services } = engineOn(test, home)
            await freeJoin(call)
            await joinRecording(services, call.scope, call.owned.run_id)
            await expectAll(home, call, life)
          } finally {
            await home.remove()
          }
        },
      ),
      { numRuns: 40 },
    ),
)

/** The next process of the machine takes up what is left, again and again. */
async function restart(home: Awaited<ReturnType<typeof machine>>): Promise<void> {
  const { spool, time } = engineOn(test, home)
  for (let i = 0; i < 3; i++) {
    await spool.poll()
    time.advance(60_000)
  }
  expect(spool.size).toBe(0)
  await spool.stop()
}

async function dieJoining(home: Awaited<ReturnType<typeof machine>>, { scope, owned }: RecordedRun, mortal: Mortal) {
  const { services } = engineOn(test, home)
  const dying = { ...services, database: mortal.database(test.database), blobs: mortal.blobs(home.blobs) }
  await Promise.race([joinRecording(dying, scope, owned.run_id), mortal.death.promise])
}

/** The lease of a joiner that died ends. */
const freeJoin = ({ owned }: RecordedRun) =>
  test.owner.query('update parley.run_recordings set join_until = null where run_id = $1', [owned.run_id])

async function expectAll(
  home: Awaited<ReturnType<typeof machine>>,
  call: RecordedRun,
  life: Awaited<ReturnType<typeof liveAndRecord>>,
): Promise<void> {
  const { state, content, names, bytes } = await storedRecording(test, home.blobs, call)
  expect(await spooledIn(home.directory)).toEqual([])
  if (life.written === 0) {
    expect(['not_required', 'failed', undefined]).toContain(state)
    expect(names).toEqual([])
    return
  }
  expect(framesOf(bytes!)).toBe(life.written)
  expect(content).toMatchObject({
    byte_size: bytes!.length,
    sha256: createHash('sha256').update(bytes!).digest('hex'),
  })
  expect(names).toEqual([`${content!.artifact_id}.wav`])
  if (life.isAlive) expect(state).toBe('ready')
  else expect(life.isOver ? ['ready', 'partial'] : ['partial']).toContain(state)
}
