import { handlers } from '@parley/control-plane'
import { type Handlers, openWholeApi, publishedAgent } from '@parley/control-plane/testing'
import { SeededRandom } from '@parley/kernel'
import { startTestServer, testDatabaseOn } from '@parley/store/testing'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'
import { raceKey } from './races/key-rounds.ts'
import { openClaimants, raceNumber } from './races/number-rounds.ts'

const MAX_SHOWN = 50
const PROGRESS_EVERY = 100

export type PlantedRace = 'nothing' | 'a write after its transaction' | 'claims that nobody confirmed'

/**
 * Two races, in rounds. A key is revoked or its secret replaced while requests with it make keys and admit runs: nothing is decided after that
 * moment. Two environments import the same number while staff confirm claims and calls without a token arrive: a call reaches the environment whose
 * claim is confirmed and no other.
 */
export async function proveRaces(
  { seed, count, seconds, line, progress }: ProofOptions,
  planted: PlantedRace = 'nothing',
): Promise<ProofOutcome> {
  const random = new SeededRandom(seed)
  const server = await startTestServer()
  const db = await testDatabaseOn(server.templateUrl)
  const late: (() => Promise<unknown>)[] = []
  const api = await openWholeApi(
    { db },
    planted === 'a write after its transaction' ? lateKeys(late, db.owner.query) : {},
  )
  const figures = { key_rounds: 0, done: 0, refused: 0, number_rounds: 0, faults: 0 }
  const report = (round: object, faults: readonly string[]) => {
    for (const fault of faults) if (figures.faults++ < MAX_SHOWN) line({ proof: 'races', ...round, fault })
  }
  const startedAt = performance.now()
  const isOver = () => performance.now() - startedAt > seconds * 1000
  try {
    const { agent_id } = await publishedAgent(api.world, 'cloud_chat')
    const chat = { agent_id, version: 0, channel: 'cloud', mode: 'chat' }
    for (; figures.key_rounds < count && !isOver(); figures.key_rounds++) {
      const round = await raceKey({ api, random, chat, late })
      figures.done += round.done
      figures.refused += round.refused
      report({ race: 'key', round: figures.key_rounds }, round.faults)
      if (figures.key_rounds % PROGRESS_EVERY === 0) progress(`${figures.key_rounds} keys, ${figures.faults} faults`)
    }
    const claimants = await openClaimants(api)
    const rounds = { api, random, claimants, onlyConfirmed: planted !== 'claims that nobody confirmed' }
    for (; figures.number_rounds < count && !isOver(); figures.number_rounds++) {
      report({ race: 'number', round: figures.number_rounds }, await raceNumber(rounds, figures.number_rounds))
      if (figures.number_rounds % PROGRESS_EVERY === 0)
        progress(`${figures.number_rounds} numbers, ${figures.faults} faults`)
    }
    const isWhole = figures.key_rounds === count && figures.number_rounds === count
    return { ok: figures.faults === 0 && isWhole, summary: figures }
  } finally {
    await api.close()
    await db.close()
    await server.stop()
  }
}

/** A handler of `keys.create` that writes another key after the request's own key ended, without a check. */
function lateKeys(
  late: (() => Promise<unknown>)[],
  query: (text: string, values: readonly unknown[]) => Promise<unknown>,
): Partial<Handlers> {
  return {
    'keys.create': (input, context) => {
      late.push(() =>
        query(
          `insert into parley.api_keys (tenant_id, name, role, prefix, secret_hash, created_at)
           values ($1, $2, 'viewer', 'late', sha256(uuid_send(gen_random_uuid())), clock_timestamp())`,
          [context.scope.tenant_id, input.body.name],
        ),
      )
      return handlers['keys.create'](input, context)
    },
  }
}

export const proof: Proof = { name: 'races', seconds: 900, count: 1000, run: options => proveRaces(options) }
