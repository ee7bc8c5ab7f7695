import { createHash } from 'node:crypto'
import type { Ms, Time, Timer, UnixMs } from '@parley/kernel'
import { RepeatedFailureLog } from '@parley/runs'
import {
  type Registration,
  type RegistrationOptions,
  type RegistrationStatus,
  serialiseUri,
  type UserAgent,
} from '@parley/sip'
import {
  type Database,
  type DialableTrunk,
  dialableTrunk,
  type InboundTrunk,
  type Lease,
  registrationLease,
  registrationOf,
  type Sealer,
  saveRegistration,
  trunkOf,
} from '@parley/store'
import { trunkHop, trunkUri } from './trunk-address.ts'
import { trunkKeepAlive } from './trunk-details.ts'
import type { TrunkDirectory } from './trunk-directory.ts'

/** An engine that dies loses its leases after this time; another takes them at its next look. */
const LEASE_MS: Ms = 9000
const LOOK_MS: Ms = 3000
/** How long a draining engine waits until another has registered, before it keeps its binding to the end. */
const HANDOVER_MS: Ms = 20_000
const HANDOVER_LOOK_MS: Ms = 1000
/** Longest wait for the registrar's answer when the engine closes. */
const REMOVAL_MS: Ms = 2000

interface TrunkRegistrationsOptions {
  readonly database: Pick<Database, 'leases' | 'within' | 'transaction'>
  readonly directory: Pick<TrunkDirectory, 'trunks'>
  readonly sealer: Sealer
  readonly engineId: string
  /** UUID of this process: registrars tell the bindings of engines apart by it. */
  readonly instanceId: string
  /** Whether an engine that takes calls could take the registrations of this one. */
  readonly hasOtherEngine: () => Promise<boolean>
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly onProblem: (what: string, error: unknown) => void
}

interface Target {
  readonly dialable: DialableTrunk
  /** User of our Contact: by it, inbound calls find the trunk. */
  readonly token: string
  /** User of the address of record. */
  readonly user: string
  readonly settings: string
}

/** A trunk whose registration this engine keeps. */
interface Held {
  /** As the directory last listed it. */
  trunk: InboundTrunk
  lease: Lease
  /** Digest of what the registration was made from. */
  readonly settings: string
  readonly registration: Registration
  /** The last write of its status; writes follow each other. */
  saved: Promise<void>
}

/**
 * Registers the trunks that staff set to register. One engine holds each of them, by a lease; when it dies another takes over within
 * 12 s. The status is stored with the lease's fence, so that a late engine cannot overwrite it.
 */
export class TrunkRegistrations {
  readonly #options: TrunkRegistrationsOptions
  readonly #looks: RepeatedFailureLog
  readonly #writes: RepeatedFailureLog
  readonly #held = new Map<string, Held>()
  /** Registrations whose binding is being removed. */
  readonly #leaving = new Map<string, Promise<void>>()
  #userAgent: Pick<UserAgent, 'register'> | null = null
  #timer: Timer | null = null
  #looking: Promise<void> = Promise.resolve()
  #isDraining = false
  #isClosed = false

  constructor(options: TrunkRegistrationsOptions) {
    this.#options = options
    const { time, onProblem } = options
    this.#looks = new RepeatedFailureLog({ name: 'the leases of registrations', time, onProblem })
    this.#writes = new RepeatedFailureLog({ name: 'storing the state of registrations', time, onProblem })
  }

  begin(userAgent: Pick<UserAgent, 'register'>): void {
    this.#userAgent = userAgent
    this.#schedule()
  }

  /** Numbers of the registrations that this engine keeps, by their state. */
  get figures(): Readonly<Record<RegistrationStatus['state'], number>> {
    const counts = { registering: 0, registered: 0, failed: 0, unregistered: 0 }
    for (const { registration } of this.#held.values()) counts[registration.status.state]++
    return counts
  }

  /** Trunks whose registration keeps this connection. */
  trunksOn(flowId: string): readonly InboundTrunk[] {
    const trunks: InboundTrunk[] = []
    for (const { registration, trunk } of this.#held.values()) if (registration.flow?.id === flowId) trunks.push(trunk)
    return trunks
  }

  /**
   * Hands every registration to another engine, and removes the binding of this one when the other has registered. Without another
   * engine the bindings stay until `close`. Resolves within 25 s; never rejects.
   */
  async drain(): Promise<void> {
    this.#isDraining = true
    this.#timer?.cancel()
    await this.#looking
    if (this.#held.size === 0 || !(await this.#options.hasOtherEngine().catch(() => false))) return
    await Promise.all([...this.#held].map(([key, held]) => this.#handOver(key, held)))
  }

  /** Removes the bindings that are left. Never rejects. */
  async close(): Promise<void> {
    this.#isDraining = true
    this.#isClosed = true
    this.#timer?.cancel()
    await this.#looking
    const { time } = this.#options
    for (const [key, held] of [...this.#held]) this.#leave(key, held)
    if (this.#leaving.size === 0) return
    const late = new Promise<void>(resolve => void time.at(time.now() + REMOVAL_MS, resolve))
    await Promise.race([late, Promise.all(this.#leaving.values())])
  }

  #schedule(): void {
    if (this.#isDraining) return
    const { time } = this.#options
    this.#timer = time.at(time.now() + LOOK_MS, () => {
      this.#looking = this.#look().then(
        () => this.#looks.worked(),
        error => this.#looks.failed(error),
      )
      void this.#looking.then(() => this.#schedule())
    })
  }

  async #look(): Promise<void> {
    const wanted = new Map(
      this.#options.directory.trunks
        .filter(({ details }) => details.register === true)
        .map(trunk => [keyOf(trunk), trunk]),
    )
    for (const [key, held] of [...this.#held]) await this.#renew(key, held, wanted.get(key))
    for (const [key, trunk] of wanted)
      if (!this.#held.has(key) && !this.#leaving.has(key) && !this.#isDraining) await this.#take(key, trunk)
  }

  async #renew(key: string, held: Held, trunk: InboundTrunk | undefined): Promise<void> {
    if (trunk === undefined) return this.#leave(key, held)
    // After an outage of the database the lease has expired, and no other engine may have taken it.
    const lease = (await this.#options.database.leases.renew(held.lease, LEASE_MS)) ?? (await this.#acquire(trunk))
    // Another engine registers: this one's binding would ring beside the other's.
    if (lease === null) return this.#leave(key, held)
    held.lease = lease
    if (trunk === held.trunk) return
    held.trunk = trunk
    const target = await this.#target(trunk)
    if (target === null || target.settings !== held.settings) this.#leave(key, held)
  }

  async #take(key: string, trunk: InboundTrunk): Promise<void> {
    const target = await this.#target(trunk)
    const userAgent = this.#userAgent
    const lease = target === null || userAgent === null ? null : await this.#acquire(trunk)
    if (target === null || userAgent === null || lease === null) return
    try {
      const onChange = (status: RegistrationStatus) => this.#save(held, status)
      const registration = userAgent.register({ ...this.#registrationOf(target), onChange })
      const held: Held = { trunk, lease, settings: target.settings, registration, saved: Promise.resolve() }
      this.#held.set(key, held)
    } catch (error) {
      this.#options.onProblem(`the trunk ${trunk.trunk_id} cannot be registered`, error)
    }
  }

  #acquire({ scope, trunk_id }: InboundTrunk): Promise<Lease | null> {
    const { database, engineId } = this.#options
    return database.leases.acquire(registrationLease(scope, trunk_id), engineId, LEASE_MS)
  }

  /** May throw: a secret that cannot be opened. */
  #registrationOf({ dialable, token, user }: Target): Omit<RegistrationOptions, 'onChange'> {
    const { sealer, instanceId } = this.#options
    const { termination_uri: host, details, auth } = dialable
    const secret = auth?.secret ?? null
    return {
      registrar: trunkUri(null, host),
      address: trunkUri(user, host),
      contactUser: token,
      nextHop: trunkHop(host, details),
      ...trunkKeepAlive(details),
      ...(auth !== null &&
        secret !== null && {
          credentials: {
            username: auth.username,
            password: sealer.open(secret.sealed, secret.context).toString('utf8'),
            ...(details.realms && { realms: details.realms }),
          },
        }),
      instanceId,
    }
  }

  /** Null: the trunk is gone, or it has no account to register. */
  async #target({ scope, trunk_id }: InboundTrunk): Promise<Target | null> {
    const db = this.#options.database.within(scope)
    const dialable = await dialableTrunk(db, scope, trunk_id)
    const token = (await trunkOf(db, scope, trunk_id))?.inbound_token ?? null
    if (dialable === null || token === null) return null
    const user = dialable.details.identity ?? dialable.auth?.username ?? null
    if (user === null) return null
    return { dialable, token, user, settings: settingsOf(dialable, token) }
  }

  #save(held: Held, status: RegistrationStatus): void {
    held.saved = held.saved.then(() => this.#store(held, status))
  }

  async #store({ trunk, lease }: Held, status: RegistrationStatus): Promise<void> {
    const { database, engineId, time, wallClock } = this.#options
    const { state, sipStatus, detail, expiresAt, serviceRoute } = status
    const { scope, trunk_id } = trunk
    const row = {
      engine_id: engineId,
      fence: lease.fence,
      state,
      sip_status: sipStatus,
      detail: detail.slice(0, 500),
      expires_at: expiresAt === null ? null : new Date(wallClock() + (expiresAt - time.now())).toISOString(),
      service_route: serviceRoute.map(({ uri }) => `<${serialiseUri(uri)}>`),
    }
    await database
      .transaction(scope, tx => saveRegistration(tx, scope, trunk_id, row))
      .then(
        () => this.#writes.worked(),
        error => this.#writes.failed(error),
      )
  }

  /** Removes the binding in the background, and then frees the lease if it is still held. */
  #leave(key: string, held: Held): void {
    this.#held.delete(key)
    const { leases } = this.#options.database
    const left = held.registration
      .stop()
      .then(() => held.saved)
      .then(() => leases.release(held.lease))
      .catch(() => false)
      .then(() => void this.#leaving.delete(key))
    this.#leaving.set(key, left)
  }

  async #handOver(key: string, held: Held): Promise<void> {
    const { database, time } = this.#options
    await database.leases.release(held.lease).catch(() => false)
    const until = time.now() + HANDOVER_MS
    while (!this.#isClosed && time.now() < until) {
      await new Promise<void>(resolve => void time.at(time.now() + HANDOVER_LOOK_MS, resolve))
      if (!this.#isClosed && (await this.#isTaken(held))) return this.#leave(key, held)
    }
  }

  /** Whether an engine with a newer lease has registered the trunk. */
  async #isTaken({ trunk: { scope, trunk_id }, lease }: Held): Promise<boolean> {
    const found = await registrationOf(this.#options.database.within(scope), scope, trunk_id).catch(() => null)
    return found !== null && BigInt(found.fence) > BigInt(lease.fence) && found.state === 'registered'
  }
}

function keyOf({ scope, trunk_id }: InboundTrunk): string {
  return registrationLease(scope, trunk_id)
}

function settingsOf({ termination_uri, details, auth }: DialableTrunk, token: string): string {
  const secret = auth?.secret?.sealed.toString('base64') ?? null
  const { port, transport, identity, realms, keep_alive } = details
  const parts = [termination_uri, port, transport, identity, realms, keep_alive, auth?.username, secret, token]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
