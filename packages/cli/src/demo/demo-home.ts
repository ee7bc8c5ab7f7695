import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { readSettings, type Settings } from '../environment.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The only settings that the demo takes from the environment of the process. */
const INHERITED = ['PARLEY_RTP_PORTS', 'PARLEY_PACKET_IO'] as const

/** Settings for a platform in a temporary home, on free ports, with the built-in services only. */
export async function openDemoHome(environment: Environment): Promise<Settings> {
  const inherited = Object.fromEntries(INHERITED.map(name => [name, environment[name]]))
  return readSettings({
    ...inherited,
    PARLEY_HOME: await mkdtemp(join(tmpdir(), 'parley-demo-')),
    PARLEY_HTTP_PORT: '0',
    PARLEY_SIP_PORT: '0',
    PARLEY_SIP_TLS_PORT: '0',
  })
}

/** Removes the home, and the database if it lies elsewhere (it does when the command runs as root). */
export async function removeDemoHome(home: string): Promise<void> {
  const record = await readFile(join(home, 'postgres.json'), 'utf8').catch(() => '{}')
  const { data } = JSON.parse(record) as { readonly data?: unknown }
  if (typeof data === 'string' && !data.startsWith(home + sep))
    await rm(dirname(data), { recursive: true, force: true })
  await rm(home, { recursive: true, force: true })
}
