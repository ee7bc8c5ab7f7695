import { constants } from 'node:fs'
import { access, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ParleyError } from '@parley/kernel'
import { type Settings, SettingsError } from './environment.ts'

/** Names of the settings with a listening address. */
interface ListenSettings {
  readonly bind: 'PARLEY_HTTP_BIND' | 'PARLEY_SIP_BIND'
  readonly port: 'PARLEY_HTTP_PORT' | 'PARLEY_SIP_PORT' | 'PARLEY_SIP_TLS_PORT'
}

/** `cause` of a listen that failed, with the setting that would help: `port_taken`, `listen_failed`; null: it is something else. */
function listenFault(
  cause: unknown,
  { host, port }: { readonly host: string; readonly port: number },
  settings: ListenSettings,
): ParleyError | null {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code
  if (code === 'EADDRINUSE') {
    const message = `something else listens on ${host}:${port}: end it, or set ${settings.port} to another port (0: any)`
    return new ParleyError('port_taken', message, { cause })
  }
  if (code === 'EADDRNOTAVAIL')
    return new ParleyError('listen_failed', `${settings.bind}: this machine has no address ${host}`, { cause })
  if (code === 'EACCES')
    return new ParleyError('listen_failed', `${settings.port}: this user may not listen on port ${port}`, { cause })
  return null
}

/** The error to throw when the HTTP server cannot listen. */
export function httpListenFault(cause: unknown, { bind: host, port }: Settings['http']): unknown {
  return listenFault(cause, { host, port }, { bind: 'PARLEY_HTTP_BIND', port: 'PARLEY_HTTP_PORT' }) ?? cause
}

/** What to throw when the engine does not start: where SIP cannot listen, with the setting that says where. */
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

/** Prefixes of the codes of errors about a setting. */
const ABOUT = { DATABASE_URL: 'database_', PARLEY_MASTER_KEY: 'master_key_' } as const

/** `error`, with the setting's name before it where it is about the setting and `value` is set (not null). */
export function namingSetting(name: keyof typeof ABOUT, value: string | null, error: unknown): unknown {
  if (value === null || !(error instanceof ParleyError) || !error.code.startsWith(ABOUT[name])) return error
  return new ParleyError(error.code, `${name}: ${error.message}`, { retryable: error.retryable, cause: error })
}

/** Makes the home where it is missing. Throws `SettingsError` where nothing can be made or written there. */
export async function makeHome(home: string): Promise<void> {
  try {
    await makeDirectory(home)
    await access(home, constants.W_OK | constants.X_OK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new SettingsError(`PARLEY_HOME: ${home} is no directory that this user can make and write (${code})`, {
      cause,
    })
  }
}

/** As `mkdir` with `recursive`, which never ends under a directory that is there and takes none (`/proc`). */
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
