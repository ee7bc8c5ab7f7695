import {
  type Bus,
  checkMasterKey,
  type Database,
  type EmbeddedPostgres,
  loadMasterKey,
  MasterKeySealer,
  migrate,
  openDatabase,
  postgresBus,
  redisBus,
  type Sealer,
  startEmbeddedPostgres,
} from '@parley/store'
import type { Settings } from './environment.ts'
import { withSettingName } from './start-faults.ts'

/** What every role of a process shares: the database, who tells of changes, and what seals secrets. */
export interface ProcessState {
  /** The owner's way in, for staff commands and migrations. */
  readonly ownerUrl: string
  readonly database: Database
  /** A few connections for leases alone: who loses a lease loses its calls, however much else wants the database. */
  readonly leases: Database
  readonly bus: Bus
  readonly sealer: Sealer
  close(): Promise<void>
}

/**
 * Opens `DATABASE_URL` or the embedded Postgres of the home, brings it to this version, and checks that the master key
 * is its own. `tell` gets a line when something goes away or comes back. Throws what the store throws.
 */
export async function openState(settings: Settings, tell: (line: string) => void): Promise<ProcessState> {
  const embedded: EmbeddedPostgres | null =
    settings.databaseUrl === null ? await startEmbeddedPostgres({ home: settings.home, onNotice: tell }) : null
  const ownerUrl = embedded?.ownerUrl ?? settings.databaseUrl!
  try {
    await migrate(ownerUrl).catch(error => {
      throw withSettingName('DATABASE_URL', settings.databaseUrl, error)
    })
    const sealer = await sealerOf(settings, ownerUrl).catch(error => {
      throw withSettingName('PARLEY_MASTER_KEY', settings.masterKey, error)
    })
    const database = await openDatabase({ ownerUrl })
    const leases = await openDatabase({ ownerUrl, maxConnections: 2 })
    const bus =
      settings.redisUrl === null
        ? postgresBus({ url: ownerUrl, onProblem: tell })
        : redisBus({ url: settings.redisUrl, onProblem: tell })
    return {
      ownerUrl,
      database,
      leases,
      bus,
      sealer,
      async close() {
        await bus.close()
        await leases.close()
        await database.close()
        await embedded?.stop()
      },
    }
  } catch (error) {
    await embedded?.stop()
    throw error
  }
}

async function sealerOf({ masterKey, home }: Settings, ownerUrl: string): Promise<Sealer> {
  const sealer = new MasterKeySealer(await loadMasterKey(masterKey ?? undefined, home))
  await checkMasterKey(ownerUrl, sealer)
  return sealer
}
