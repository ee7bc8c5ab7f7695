import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { readSettings, type Settings } from '../environment.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The demo's platform inherits only the machine's settings from the process. */
const KEPT = ['PARLEY_RTP_PORTS', 'PARLEY_PACKET_IO'] as const

/** A home for one platform that lives as long as the demo, on any free ports, with the built-in services alone. */
export async function openDemoHome(environment: Environment): Promise<Settings> {
  const kept = Object.fromEntries(KEPT.map(name => [name, environment[name]]))
  return readSettings({
    ...kept,
    PARLEY_HOME: await mkdtemp(join(tmpdir(), 'parley-demo-')),
    PARLEY_HTTP_PORT: '0',
    PARLEY_SIP_PORT: '0',
    PARLEY_SIP_TLS_PORT: '0',
  })
}

/** Removes the home, and the database where root keeps it elsewhere for its server's account. */
export async function removeDemoHome(home: string): Promise<void> {
  const record = await readFile(join(home, 'postgres.json'), 'utf8').catch(() => '{}')
  const { data } = JSON.parse(record) as { readonly data?: unknown }
  if (typeof data === 'string' && !data.startsWith(home + sep))
    await rm(dirname(data), { recursive: true, force: true })
  await rm(home, { recursive: true, force: true })
}
