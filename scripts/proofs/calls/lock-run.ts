import type { Pool } from 'pg'

/** Ends the sessions that wait for a lock of this one, directly or through others. */
const END_WAITING_SESSIONS = `
  with recursive waiting(pid) as (
    select pg_backend_pid()
    union select a.pid from pg_stat_activity a join waiting w on w.pid = any(pg_blocking_pids(a.pid))
  ) select pg_terminate_backend(pid, 5000) from waiting where pid <> pg_backend_pid()`

/**
 * Locks the row of the run, so that no other session can write to it until the returned function is called. Writes that waited
 * for the lock are then discarded, as those of a process that died, and the run's lease is extended, since its owner could not
 * renew it meanwhile.
 */
export async function lockRun(owner: Pool, run_id: string): Promise<() => Promise<void>> {
  const client = await owner.connect()
  await client.query('begin')
  await client.query('select 1 from parley.runs where run_id = $1 for update', [run_id])
  return async () => {
    try {
      await client.query(END_WAITING_SESSIONS)
      await client.query('rollback')
    } finally {
      // Destroys the connection: a failed transaction must not keep the lock.
      client.release(true)
    }
    // After the lock: ending a run locks this row first and then waits for the other.
    await owner.query(
      "update parley.run_ownership set lease_until = clock_timestamp() + interval '9 s' where run_id = $1",
      [run_id],
    )
  }
}
