import { type Client, DatabaseError, escapeIdentifier, escapeLiteral } from 'pg'
import { StoreError } from '../errors.ts'
import { type AppLogin, type DatabaseAddress, groupOf, PROCESS_ROLES } from './owner-connection.ts'

const GROUPS: readonly string[] = ['parley_app', 'parley_system', ...PROCESS_ROLES.map(groupOf)]
/** duplicate_object; unique_violation on pg_authid when two create at once. */
const EXISTS_ALREADY = new Set(['42710', '23505'])
const INSUFFICIENT_PRIVILEGE = '42501'

/**
 * Creates the groups that migrations grant to, and allows the owner to make parley_system the owner of functions. Roles belong to the
 * whole cluster: another database may have created them, or create them now. Throws `database_misconfigured` with the statement that an
 * administrator must run if the owner lacks the right.
 */
export async function ensureGroups(client: Client): Promise<void> {
  for (const group of GROUPS) await createRole(client, group, 'nologin')
  for (const group of GROUPS) {
    const { rows } = await client.query(
      `select rolsuper or (pg_has_role(current_user, $1, 'MEMBER WITH ADMIN OPTION') and pg_has_role(current_user, $1, 'SET')) as may
       from pg_roles where rolname = current_user`,
      [group],
    )
    if (rows[0]?.may === true) continue
    await client.query(`grant ${group} to current_user with inherit false, set true`).catch(cause => {
      throw new StoreError(
        'database_misconfigured',
        `the owner of the database may not use the role ${group}, which another made: let an administrator run GRANT ${GROUPS.join(', ')} TO <owner> WITH ADMIN OPTION, INHERIT FALSE, SET TRUE, or the statements that "parley admin database prepare" prints`,
        { cause },
      )
    })
  }
}

/** Creates the roles that processes log in as, with their derived passwords, each a member of parley_app and of the groups of its processes. */
export async function ensureLogins(
  client: Client,
  { database, logins }: DatabaseAddress,
  wanted: readonly AppLogin[] = Object.values(logins),
): Promise<void> {
  for (const login of wanted) {
    const role = escapeIdentifier(login.role)
    await createRole(client, login.role, 'login')
    await client.query(`alter role ${role} with login password ${escapeLiteral(login.password)}`).catch(cause => {
      // An administrator created it (`preparationSql`), with this password: if not, its login fails and says so.
      if (!(cause instanceof DatabaseError && cause.code === INSUFFICIENT_PRIVILEGE)) throw cause
    })
    await client.query(`grant ${groupsOf(login)} to ${role} with inherit true, set false`)
    await client.query(`grant connect on database ${escapeIdentifier(database)} to ${role}`)
  }
  // Everybody may create temporary objects in a new database. The application needs none; a function of the platform must never see one.
  await client.query(`revoke temporary on database ${escapeIdentifier(database)} from public`)
}

function groupsOf({ processes }: AppLogin): string {
  return ['parley_app', ...processes.map(groupOf)].join(', ')
}

/**
 * What an administrator runs once where the owner of the database may not have CREATEROLE, as SQL: the roles, with the passwords
 * of the processes' logins, which follow from the owner's. It can be run again, also after the owner's password changed.
 */
export function preparationSql({ ownerUrl, database, logins }: DatabaseAddress): string {
  const owner = escapeIdentifier(decodeURIComponent(new URL(ownerUrl).username))
  const all = Object.values(logins)
  const created = [...GROUPS.map(group => [group, 'nologin']), ...all.map(({ role }) => [role, 'login'])]
  const statements = [
    ...created.map(
      ([name, options]) =>
        `do $$ begin create role ${escapeIdentifier(name!)} ${options}; exception when duplicate_object then null; end $$`,
    ),
    `grant ${GROUPS.join(', ')} to ${owner} with admin option, inherit false, set true`,
    ...all.flatMap(login => {
      const role = escapeIdentifier(login.role)
      return [
        `alter role ${role} with login password ${escapeLiteral(login.password)}`,
        `grant ${groupsOf(login)} to ${role} with inherit true, set false`,
        `grant connect on database ${escapeIdentifier(database)} to ${role}`,
      ]
    }),
    `revoke temporary on database ${escapeIdentifier(database)} from public`,
  ]
  return statements.map(statement => `${statement};\n`).join('')
}

/**
 * Throws `database_misconfigured` if the logged-in role can bypass row security, may call functions of other kinds of processes, or is
 * not the expected one.
 */
export function assertAppRole(login: AppLogin, found: Readonly<Record<string, unknown>> | undefined): void {
  const faults = [
    found?.role !== login.role && `is ${String(found?.role)}`,
    found?.superuser !== false && 'is superuser',
    found?.bypass !== false && 'has BYPASSRLS',
    found?.owns !== false && 'owns tables of Parley or is member of who does',
    found?.system !== false && 'is member of parley_system',
    ...PROCESS_ROLES.filter(process => !login.processes.includes(process) && found?.[process] !== false).map(
      process => `is member of ${groupOf(process)}`,
    ),
  ].filter(fault => typeof fault === 'string')
  if (faults.length > 0)
    throw new StoreError(
      'database_misconfigured',
      `the application's role ${login.role} ${faults.join(', ')}: row security or the grants of its processes would have no effect, so Parley does not start`,
    )
}

/** The properties that `assertAppRole` checks, as one row. */
export const APP_ROLE_FACTS = `
  select current_user as role, r.rolsuper as superuser, r.rolbypassrls as bypass,
    exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'parley' and pg_has_role(current_user, c.relowner, 'MEMBER')) as owns,
    pg_has_role(current_user, 'parley_system', 'MEMBER') as system,
    ${PROCESS_ROLES.map(process => `pg_has_role(current_user, '${groupOf(process)}', 'MEMBER') as ${process}`).join(', ')}
  from pg_roles r where r.rolname = current_user and session_user = current_user`

async function createRole(client: Client, name: string, options: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [name])
  if (rowCount === 1) return
  await client.query(`create role ${escapeIdentifier(name)} ${options}`).catch(cause => {
    if (cause instanceof DatabaseError && EXISTS_ALREADY.has(cause.code ?? '')) return
    throw new StoreError(
      'database_misconfigured',
      `the owner of the database may not create the role ${name}: let an administrator run ALTER ROLE <owner> CREATEROLE, or the statements that "parley admin database prepare" prints`,
      { cause },
    )
  })
}
