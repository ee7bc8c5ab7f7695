import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureLocalCertificate, type TlsIdentity } from '@parley/leg'
import { ChildLink } from '../child-link.ts'
import type {
  CallerReply,
  CallerRequest,
  Layer,
  PlantedFault,
  SubjectMeasures,
  SubjectReply,
  SubjectRequest,
} from './messages.ts'
import { SERVICE } from './service.ts'
import { inviteTimes, type LoadFigures, runSipp } from './sipp-load.ts'

/** A subject has this core for itself by default; SIPp and the caller use the other one. */
export const SUBJECT_CORE = 0
export const CORES = 2

type Transport = 'udp' | 'tcp' | 'tls'

export interface Load {
  readonly transport: Transport
  readonly calls: number
  readonly perSecond: number
}

/** A subject in a process of its own, and the loads on it. */
export class MeasuredSubject {
  readonly #subject: ChildLink<SubjectRequest, SubjectReply>
  readonly #ports: Readonly<Record<Transport, number>>
  readonly #tls: TlsIdentity
  readonly #directory: string
  readonly #loadCore: number

  private constructor(parts: {
    readonly subject: ChildLink<SubjectRequest, SubjectReply>
    readonly ports: Readonly<Record<Transport, number>>
    readonly tls: TlsIdentity
    readonly directory: string
    readonly loadCore: number
  }) {
    this.#subject = parts.subject
    this.#ports = parts.ports
    this.#tls = parts.tls
    this.#directory = parts.directory
    this.#loadCore = parts.loadCore
  }

  static async open(
    layer: Layer,
    planted: PlantedFault | null = null,
    core: number = SUBJECT_CORE,
  ): Promise<MeasuredSubject> {
    const directory = await mkdtemp(join(tmpdir(), 'parley-bench-sip.'))
    const tls = await ensureLocalCertificate(directory, { names: ['localhost'], addresses: ['127.0.0.1'] })
    const subject = new ChildLink<SubjectRequest, SubjectReply>(join(import.meta.dirname, 'subject.ts'), {
      core,
    })
    const { ports } = await subject.ask({ type: 'open', layer, tls, planted }, 'opened')
    return new MeasuredSubject({ subject, ports, tls, directory, loadCore: (core + 1) % CORES })
  }

  /** Puts a load on the subject. `msPerCall`: its user plus system time for each call, all its threads included. */
  async run(load: Load): Promise<LoadFigures & { readonly msPerCall: number }> {
    const before = await this.measure()
    const figures = await this.#load(load)
    const after = await this.measure()
    const calls = figures.calls + figures.failed
    return { ...figures, msPerCall: Math.round(((after.cpuMs - before.cpuMs) / Math.max(1, calls)) * 1000) / 1000 }
  }

  async measure(collect = false): Promise<SubjectMeasures> {
    return (await this.#subject.ask({ type: 'measure', collect }, 'measured')).measured
  }

  /** A caller over TLS in another process. */
  async caller(): Promise<ChildLink<CallerRequest, CallerReply>> {
    const caller = new ChildLink<CallerRequest, CallerReply>(join(import.meta.dirname, 'tls-caller.ts'), {
      core: this.#loadCore,
    })
    await caller.ask({ type: 'open', tls: this.#tls, port: this.#ports.tls, user: SERVICE }, 'opened')
    return caller
  }

  async close(): Promise<void> {
    await this.#subject.end()
    await rm(this.#directory, { recursive: true, force: true })
  }

  async #load({ transport, calls, perSecond }: Load): Promise<LoadFigures> {
    if (transport !== 'tls')
      return runSipp({ transport, calls, perSecond, port: this.#ports[transport], core: this.#loadCore })
    const caller = await this.caller()
    try {
      const { failed, inviteMs, seconds } = await caller.ask({ type: 'call', count: calls, perSecond }, 'called')
      return {
        calls: calls - failed,
        failed,
        retransmissions: 0,
        perSecond: Math.round(calls / seconds),
        inviteMs: inviteTimes(inviteMs),
      }
    } finally {
      await caller.end()
    }
  }
}
