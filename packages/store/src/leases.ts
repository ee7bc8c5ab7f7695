import type { Lease, Leases } from './protocol.ts'
import type { RunStatement } from './statements.ts'

const ACQUIRE = `
  insert into parley.leases as l (name, owner, fence, expires_at)
  values ($1, $2, 1, parley.now_ms() + $3 * interval '1 ms')
  on conflict (name) do update set owner = excluded.owner, fence = l.fence + 1, expires_at = excluded.expires_at
    where l.expires_at <= clock_timestamp()
  returning name, fence, expires_at`

const RENEW = `
  update parley.leases set expires_at = parley.now_ms() + $3 * interval '1 ms'
  where name = $1 and fence = $2 and expires_at > clock_timestamp()
  returning name, fence, expires_at`

// The row is kept, because a fence must never be reused.
const RELEASE = `
  update parley.leases set owner = null, expires_at = parley.now_ms()
  where name = $1 and fence = $2 and expires_at > clock_timestamp()
  returning name`

export function leasesOn(run: RunStatement): Leases {
  const one = async (name: string, text: string, values: readonly unknown[]) => {
    const { rows } = await run(name, text, values)
    return (rows[0] as Lease | undefined) ?? null
  }
  return {
    acquire: (name, owner, leaseMs) => one('lease_acquire', ACQUIRE, [name, owner, leaseMs]),
    renew: (lease, leaseMs) => one('lease_renew', RENEW, [lease.name, lease.fence, leaseMs]),
    release: async lease => (await one('lease_release', RELEASE, [lease.name, lease.fence])) !== null,
  }
}
