import { createHash, createHmac } from 'node:crypto'
import { Client } from 'pg'
import { StoreError } from '../errors.ts'

const CONNECT_WITHIN_MS = 10_000

/** The kinds of processes. Each has a group role, which may call the functions across tenants that such a process needs. */
export const PROCESS_ROLES = ['api', 'worker', 'engine'] as const
export type ProcessRole = (typeof PROCESS_ROLES)[number]

/** How a process logs in to a database. */
export interface AppLogin {
  /** `parley_api_<database>`, shortened with a digest if it exceeds the limit of Postgres. */
  readonly role: string
  readonly password: string
  readonly url: string
  /** The kinds of processes whose functions it may call. */
  readonly processes: readonly ProcessRole[]
}

/** A parsed connection string: the owner's login, and those of processes in the same database. */
export interface DatabaseAddress {
  readonly ownerUrl: string
  readonly database: string
  /** `all`: of a process of several kinds. */
  readonly logins: Readonly<Record<ProcessRole | 'all', AppLogin>>
}

/** The group role of a kind of process. */
export function groupOf(process: ProcessRole): string {
  return `parley_${process}`
}

/**
 * Reads `postgres://user:password@host:port/database?sslmode=…`. The passwords of processes are derived from the
 * owner's, so that every process with the owner's password can compute its own. Throws `database_misconfigured`.
 */
export function readAddress(ownerUrl: string): DatabaseAddress {
  const url = URL.canParse(ownerUrl) ? new URL(ownerUrl) : null
  const database = decodeURIComponent(url?.pathname.slice(1) ?? '')
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || !url.username || !url.password || !database)
    throw new StoreError(
      'database_misconfigured',
      'the database URL must name user, password and database: postgres://user:password@host:port/database',
    )
  const login = (prefix: string, processes: readonly ProcessRole[]): AppLogin => {
    const role = roleOf(`parley_${prefix}_`, database)
    const password = createHmac('sha256', decodeURIComponent(url.password))
      .update(`parley-${prefix}\0${decodeURIComponent(url.username)}\0${database}`)
      .digest('base64url')
    const own = new URL(url)
    own.username = encodeURIComponent(role)
    own.password = password
    return { role, password, url: own.href, processes }
  }
  return {
    ownerUrl,
    database,
    logins: {
      all: login('app', PROCESS_ROLES),
      api: login('api', ['api']),
      worker: login('worker', ['worker']),
      engine: login('engine', ['engine']),
    },
  }
}

/** Runs `work` on a connection of the owner and closes it. Throws `database_unavailable` if it cannot connect. */
export async function asOwner<Result>(
  address: DatabaseAddress,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: address.ownerUrl, connectionTimeoutMillis: CONNECT_WITHIN_MS })
  // Without a listener, a lost connection would end the process. Pending queries reject anyway.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (cause) {
    throw new StoreError('database_unavailable', `the owner cannot log in to the database: ${messageOf(cause)}`, {
      cause,
    })
  }
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

function roleOf(prefix: string, database: string): string {
  const role = `${prefix}${database}`
  if (Buffer.byteLength(role) <= 63) return role
  const digest = createHash('sha256').update(database).digest('hex').slice(0, 16)
  return `${prefix}${digest}`
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
