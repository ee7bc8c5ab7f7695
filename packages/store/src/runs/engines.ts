import type { RunStatement } from '../statements.ts'
import type { EngineRow, Engines } from './protocol.ts'

export function enginesOn(run: RunStatement): Engines {
  return {
    async register({ engine_id, addresses, capacity }) {
      await run(
        'engine_register',
        `insert into parley.engines (engine_id, addresses, capacity) values ($1, $2, $3)
         on conflict (engine_id) do update set addresses = excluded.addresses, capacity = excluded.capacity,
           draining = false, heartbeat_at = parley.now_ms()`,
        [engine_id, JSON.stringify(addresses), capacity],
      )
    },
    async heartbeat(engineId, live, draining) {
      const { rows } = await run(
        'engine_heartbeat',
        `update parley.engines set live = $2, draining = $3, heartbeat_at = parley.now_ms() where engine_id = $1
         returning engine_id`,
        [engineId, live, draining],
      )
      return rows.length === 1
    },
    async present(withinMs) {
      const { rows } = await run(
        'engines_present',
        `select engine_id, addresses, capacity, live, draining, started_at, heartbeat_at from parley.engines
         where heartbeat_at > clock_timestamp() - $1 * interval '1 ms' order by engine_id`,
        [withinMs],
      )
      return rows as EngineRow[]
    },
    async forget(engineId) {
      await run('engine_forget', 'delete from parley.engines where engine_id = $1', [engineId])
    },
    async forgetSilent(silentMs) {
      const { rows } = await run(
        'engines_forget_silent',
        `delete from parley.engines where heartbeat_at <= clock_timestamp() - $1 * interval '1 ms' returning engine_id`,
        [silentMs],
      )
      return (rows as { engine_id: string }[]).map(row => row.engine_id)
    },
  }
}
