import { createHash, createHmac } from 'node:crypto'
import { Client } from 'pg'
import { StoreError } from '../errors.ts'

const CONNECT_WITHIN_MS = 10_000

/** How the application's own role logs in to a database. */
export interface AppLogin {
  /** `parley_app_<database>`, shortened with a digest if it exceeds the limit of Postgres. */
  readonly role: string
  readonly password: string
}

/** A parsed connection string: the owner's login, and that of the application's role in the same database. */
export interface DatabaseAddress {
  readonly ownerUrl: string
  readonly appUrl: string
  readonly database: string
  readonly login: AppLogin
}

/**
 * Reads `postgres://user:password@host:port/database?sslmode=…`. The application's password is derived from the
 * owner's, so that every process with the owner's password can compute it. Throws `database_misconfigured`.
 */
export function readAddress(ownerUrl: string): DatabaseAddress {
  const url = URL.canParse(ownerUrl) ? new URL(ownerUrl) : null
  const database = decodeURIComponent(url?.pathname.slice(1) ?? '')
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || !url.username || !url.password || !database)
    throw new StoreError(
      'database_misconfigured',
      'the database URL must name user, password and database: postgres://user:password@host:port/database',
    )
  const login = {
    role: appRole(database),
    password: createHmac('sha256', decodeURIComponent(url.password))
      .update(`parley-app\0${decodeURIComponent(url.username)}\0${database}`)
      .digest('base64url'),
  }
  url.username = encodeURIComponent(login.role)
  url.password = login.password
  return { ownerUrl, appUrl: url.href, database, login }
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

function appRole(database: string): string {
  const role = `parley_app_${database}`
  if (Buffer.byteLength(role) <= 63) return role
  const digest = createHash('sha256').update(database).digest('hex').slice(0, 16)
  return `parley_app_${digest}`
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
