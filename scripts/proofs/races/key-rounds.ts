import { setTimeout as pause } from 'node:timers/promises'
import type { WholeApi } from '@parley/control-plane/testing'
import { type Random, randomBelow } from '@parley/kernel'

const WRITES = 8
const SPREAD_MS = 8

/** What every round needs. */
interface KeyRounds {
  readonly api: WholeApi
  readonly random: Random
  /** Body of a request for a chat. */
  readonly chat: object
  /** Writes that the planted fault carries out after the key ended, before the round is judged. */
  readonly late: (() => Promise<unknown>)[]
}

/** Writes of a round that were done and refused, and what it must not have seen. */
interface KeyRound {
  readonly done: number
  readonly refused: number
  readonly faults: readonly string[]
}

/**
 * A key makes other keys and admits runs while it is revoked, or its secret replaced. Each write is done before that moment on the database's
 * clock or answered 401, and after the answer to the revocation every write is 401.
 */
export async function raceKey({ api, random, chat, late: planted }: KeyRounds): Promise<KeyRound> {
  const { secret, key_id } = await api.newKey('admin')
  const name = `of-${key_id}`
  const write = (kind: number) =>
    kind === 0
      ? api.send('keys.create', { body: { name, role: 'viewer' } }, { key: secret })
      : api.send('runs.create', { body: { ...chat, metadata: { name } } }, { key: secret })
  const first = await write(0)
  if (first.status !== 201) throw new Error(`the new key was refused: ${first.status} ${JSON.stringify(first.body)}`)
  const isRevoked = randomBelow(random, 3) > 0
  const end = async () => {
    await pause(randomBelow(random, SPREAD_MS))
    const { status, body } = isRevoked
      ? await api.send('keys.revoke', { params: { key_id } })
      : await api.send('keys.rotate', { params: { key_id }, body: { overlap_seconds: 0 } })
    if (status >= 300) throw new Error(`the key was not ended: ${status} ${JSON.stringify(body)}`)
    const { rows } = await api.db.owner.query('select clock_timestamp() as now')
    return { moment: isRevoked ? body.revoked_at : rows[0].now.toISOString(), late: [await write(0), await write(1)] }
  }
  const plans = Array.from({ length: WRITES }, () => ({
    kind: randomBelow(random, 2),
    afterMs: randomBelow(random, SPREAD_MS),
  }))
  const early = plans.map(async ({ kind, afterMs }) => {
    await pause(afterMs)
    return write(kind)
  })
  const { moment, late } = await end()
  const answers = await Promise.all(early)
  for (const writeLate of planted.splice(0)) await writeLate()
  const faults = late
    .filter(({ status }) => status !== 401)
    .map(({ status }) => `a write after the end answered ${status}`)
  for (const { status, body } of answers)
    if (status !== 201 && status !== 401) faults.push(`a write answered ${status} ${JSON.stringify(body)}`)
  for (const made of await madeAfter(api, name, moment)) faults.push(`${made} after the key ended`)
  // An environment has at most 1,000 active keys.
  await api.db.owner.query(
    'update parley.api_keys set revoked_at = now() where (name = $1 or key_id = $2) and revoked_at is null',
    [name, key_id],
  )
  const done = answers.filter(({ status }) => status === 201).length
  return { done, refused: answers.length - done, faults }
}

/** What the writes of a round made after the moment, on the database's clock. */
async function madeAfter(api: WholeApi, name: string, moment: string): Promise<string[]> {
  const { rows } = await api.db.owner.query(
    `select 'a key was made' as made from parley.api_keys where name = $1 and created_at > $2::timestamptz
     union all
     select 'a run was admitted' from parley.runs where metadata ->> 'name' = $1 and created_at > $2::timestamptz`,
    [name, moment],
  )
  return rows.map(({ made }) => made)
}
