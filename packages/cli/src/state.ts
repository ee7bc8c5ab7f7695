import {
  type Bus,
  checkMasterKey,
  type Database,
  type EmbeddedPostgres,
  ensureSigningKey,
  loadMasterKey,
  MasterKeySealer,
  migrate,
  openDatabase,
  type ProcessRole,
  postgresBus,
  redisBus,
  type Sealer,
  startEmbeddedPostgres,
} from '@parley/store'
import type { Settings } from './environment.ts'
import { writeKeysFile } from './signing-keys-file.ts'
import { withSettingName } from './start-faults.ts'

/** What the roles of a process share: the database, the bus for changes, and the sealer of secrets. */
export interface ProcessState {
  /** URL of the database as its owner, for staff commands and migrations. */
  readonly ownerUrl: string
  readonly database: Database
  /** Connections for leases only, so that other queries never delay a renewal: an expired lease ends its call. */
  readonly leases: Database
  readonly bus: Bus
  readonly sealer: Sealer
  close(): Promise<void>
}

/**
 * Opens `DATABASE_URL` or the embedded Postgres of the home, migrates it to this version and checks the master key. A process of one role
 * logs in with the rights of that role, one of several with those of all (decision 0125). `printLine` gets a line when a connection is lost or restored. Throws `SettingsError` and `StoreError`.
 */
export async function openState(
  settings: Settings,
  roles: ReadonlySet<ProcessRole>,
  printLine: (line: string) => void,
): Promise<ProcessState> {
  const embedded: EmbeddedPostgres | null =
    settings.databaseUrl === null ? await startEmbeddedPostgres({ home: settings.home, onNotice: printLine }) : null
  const ownerUrl = embedded?.ownerUrl ?? settings.databaseUrl!
  try {
    await migrate(ownerUrl).catch(error => {
      throw withSettingName('DATABASE_URL', settings.databaseUrl, error)
    })
    const sealer = await sealerOf(settings, ownerUrl).catch(error => {
      throw withSettingName('PARLEY_MASTER_KEY', settings.masterKey, error)
    })
    await ensureSigningKey(ownerUrl, sealer)
    const [role] = roles
    const login = roles.size === 1 && role !== undefined ? { ownerUrl, process: role } : { ownerUrl }
    const database = await openDatabase(login)
    const leases = await openDatabase({ ...login, maxConnections: 2 })
    await writeKeysFile(settings.home, await database.signing.publicKeys())
    const bus =
      settings.redisUrl === null
        ? postgresBus({ url: ownerUrl, onProblem: printLine })
        : redisBus({ url: settings.redisUrl, onProblem: printLine })
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

/** Throws `StoreError` if the master key is not that of the database. */
export async function sealerOf(
  { masterKey, home }: Pick<Settings, 'masterKey' | 'home'>,
  ownerUrl: string,
): Promise<Sealer> {
  const sealer = new MasterKeySealer(await loadMasterKey(masterKey ?? undefined, home))
  await checkMasterKey(ownerUrl, sealer)
  return sealer
}
