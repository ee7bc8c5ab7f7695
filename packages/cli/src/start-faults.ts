import { constants } from 'node:fs'
import { access, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ParleyError } from '@parley/kernel'
import { StoreError, type StoreErrorCode } from '@parley/store'
import { type Settings, SettingsError } from './environment.ts'
import { CliError } from './errors.ts'

/** Names of the settings with a listening address. */
interface ListenSettings {
  readonly bind: 'PARLEY_HTTP_BIND' | 'PARLEY_SIP_BIND'
  readonly port: 'PARLEY_HTTP_PORT' | 'PARLEY_SIP_PORT' | 'PARLEY_SIP_TLS_PORT'
}

/** The error for `cause`, with the setting to change: `port_taken` or `listen_failed`. Null: the cause is another one. */
function listenFault(
  cause: unknown,
  { host, port }: { readonly host: string; readonly port: number },
  settings: ListenSettings,
): Error | null {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code
  if (code === 'EADDRINUSE') {
    const message = `another program listens on ${host}:${port}: stop it, or set ${settings.port} to another port (0: any free one)`
    return new CliError('port_taken', message, { cause })
  }
  if (code === 'EADDRNOTAVAIL')
    return new CliError('listen_failed', `${settings.bind}: this machine has no address ${host}`, { cause })
  if (code === 'EACCES')
    return new CliError('listen_failed', `${settings.port}: this user may not listen on port ${port}`, { cause })
  return null
}

/** The error to throw when the HTTP server cannot listen. */
export function httpListenFault(cause: unknown, { bind: host, port }: Settings['http']): unknown {
  return listenFault(cause, { host, port }, { bind: 'PARLEY_HTTP_BIND', port: 'PARLEY_HTTP_PORT' }) ?? cause
}

/** The error to throw when the engine does not start; if SIP cannot listen, it names the setting to change. */
export function sipListenFault(
  error: unknown,
  { sipBind: host, sipPort, sipTlsPort }: Pick<Settings, 'sipBind' | 'sipPort' | 'sipTlsPort'>,
): unknown {
  if (!(error instanceof ParleyError)) return error
  const failed = (error.cause as { readonly port?: unknown } | undefined)?.port
  const isTls = failed === sipTlsPort
  const port = isTls ? 'PARLEY_SIP_TLS_PORT' : 'PARLEY_SIP_PORT'
  return (
    listenFault(error.cause, { host, port: isTls ? sipTlsPort : sipPort }, { bind: 'PARLEY_SIP_BIND', port }) ?? error
  )
}

/** Codes of errors that the value of a setting can cause. */
const CODES_BY_SETTING = {
  DATABASE_URL: ['database_misconfigured', 'database_newer', 'database_timeout', 'database_unavailable'],
  PARLEY_MASTER_KEY: ['master_key_invalid', 'master_key_wrong'],
} as const satisfies Readonly<Record<string, readonly StoreErrorCode[]>>

/**
 * A `SettingsError` that puts the name of the setting before the message of `error`, if the setting has a value (not null)
 * that can cause such an error; otherwise `error`.
 */
export function withSettingName(name: keyof typeof CODES_BY_SETTING, value: string | null, error: unknown): unknown {
  if (value === null || !StoreError.is(error, ...CODES_BY_SETTING[name])) return error
  return new SettingsError(`${name}: ${error.message}`, { cause: error })
}

/** Creates the home directory if it is missing. Throws `SettingsError` if it cannot be created or written. */
export async function makeHome(home: string): Promise<void> {
  try {
    await makeDirectory(home)
    await access(home, constants.W_OK | constants.X_OK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new SettingsError(`PARLEY_HOME: this user cannot create or write the directory ${home} (${code})`, {
      cause,
    })
  }
}

/** Like `mkdir` with `recursive`, which does not return under an existing directory that refuses children (`/proc`). */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return
    const isOrphan = code === 'ENOENT' && (await stat(dirname(path)).catch(() => null)) === null
    if (!isOrphan) throw error
    await makeDirectory(dirname(path))
    await mkdir(path, { mode: 0o700 })
  }
}
