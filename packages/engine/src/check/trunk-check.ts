import type { Ms } from '@parley/kernel'
import { type DialOptions, Endpoint, type EndpointOptions, LegError } from '@parley/leg'
import { CODEC_NAMES } from '@parley/media'
import type { Target } from '@parley/sip'
import type { DialableTrunk, Sealer, TrunkHealth } from '@parley/store'
import { dialTarget } from '../runs/dial-target.ts'
import { trunkHop, trunkUri } from '../runs/trunk-address.ts'
import { type CallMessages, explainCall, MEDIA_REFUSALS } from './explain-call.ts'
import { explainAudio, explainMedia } from './explain-media.ts'
import { explainServer } from './explain-server.ts'
import { type Finding, ok, problem, skipped } from './finding.ts'
import { MessageLog } from './message-log.ts'
import { placeTestCall, type TestCall } from './test-call.ts'

/** Long enough for the far end's first report (RFC 3550 section 6.2: 5 s, up to half more). */
const LISTEN_MS: Ms = 8000
const DEFAULT_CODECS = ['PCMU', 'PCMA'] as const
const MAX_SERVERS = 8

interface TrunkCheckOptions {
  readonly trunk: DialableTrunk
  /** Of a trunk that registers. */
  readonly registration: TrunkHealth['registration']
  readonly sealer: Sealer
  /** The test call, E.164; null: none is placed. */
  readonly call: { readonly from: string | null; readonly to: string } | null
  /** Called before each INVITE: waits for its turn in the trunk's call rate. */
  readonly beforeCall?: () => Promise<void>
  /** Longest wait for the answer to OPTIONS; default 8 s. */
  readonly answerMs?: Ms
  /** How long an answered test call lasts; default 8 s. */
  readonly listenMs?: Ms
  /** Receives each finding as it is made. */
  readonly onFinding: (finding: Finding) => void
}

/** Checks trunks from this machine, with sockets of its own. */
export class TrunkChecker {
  readonly #endpoint: Endpoint
  readonly #log: MessageLog

  private constructor(endpoint: Endpoint, log: MessageLog) {
    this.#endpoint = endpoint
    this.#log = log
  }

  /** `options`: the ports of SIP should be free ones. Throws what opening sockets throws. */
  static async open(options: Omit<EndpointOptions, 'guard' | 'onInvite' | 'observe'>): Promise<TrunkChecker> {
    const log = new MessageLog()
    const endpoint = await Endpoint.open({
      ...options,
      observe: log.observe,
      guard: () => ({ action: 'accept' }),
      onInvite: session => session.reject(486),
    })
    return new TrunkChecker(endpoint, log)
  }

  /** Checks the settings of a trunk, the DNS, each server, and places a test call. One check at a time. */
  check(options: TrunkCheckOptions): Promise<readonly Finding[]> {
    this.#log.clear()
    return new TrunkCheck(options, this.#endpoint, this.#log).run()
  }

  close(): Promise<void> {
    return this.#endpoint.close()
  }
}

class TrunkCheck {
  readonly #options: TrunkCheckOptions
  readonly #endpoint: Endpoint
  readonly #log: MessageLog
  readonly #findings: Finding[] = []

  constructor(options: TrunkCheckOptions, endpoint: Endpoint, log: MessageLog) {
    this.#options = options
    this.#endpoint = endpoint
    this.#log = log
  }

  async run(): Promise<readonly Finding[]> {
    this.#report(...settingsFindings(this.#options))
    const isReached = await this.#servers()
    if (this.#options.call === null)
      this.#report(skipped('call', 'No INVITE was sent: "--to NUMBER" places a test call.'))
    else if (!isReached) this.#report(skipped('call', 'No INVITE was sent: no server of the trunk can be reached.'))
    else await this.#call(this.#options.call)
    return this.#findings
  }

  #report(...findings: readonly Finding[]): void {
    for (const finding of findings) {
      this.#findings.push(finding)
      this.#options.onFinding(finding)
    }
  }

  /** Whether a server answered. */
  async #servers(): Promise<boolean> {
    const { termination_uri: host, details } = this.#options.trunk
    const { userAgent } = this.#endpoint
    const hop = trunkHop(host, details)
    const targets = (await userAgent.locate(hop)).slice(0, MAX_SERVERS)
    this.#report(explainNames(host, hop.transport, details.port, targets))
    const uri = trunkUri(null, host)
    const from = { displayName: undefined, uri, params: new Map() }
    const outcomes = await Promise.all(
      targets.map(async target => ({
        target,
        outcome: await userAgent.ping(target, { uri, from }, this.#options.answerMs),
      })),
    )
    for (const { target, outcome } of outcomes)
      this.#report(...explainServer(target, outcome, this.#log.wasSent('OPTIONS', target)))
    // A server that is silent to OPTIONS may still take calls.
    return outcomes.some(({ target, outcome }) => outcome.type === 'answered' || this.#log.wasSent('OPTIONS', target))
  }

  async #call({ from, to }: { readonly from: string | null; readonly to: string }): Promise<void> {
    const { trunk, sealer, listenMs = LISTEN_MS } = this.#options
    if (trunk.auth !== null && trunk.auth.secret === null)
      return this.#report(skipped('call', 'No INVITE was sent: the password of the trunk is gone.'))
    const target = dialTarget(trunk, from, to, sealer)
    const call = await this.#place(target, listenMs)
    if (call === null) return
    const { end } = call
    const messages = this.#messagesOf(call)
    const isMedia = end.cause === 'media-refused' || (end.sipStatus !== null && MEDIA_REFUSALS.has(end.sipStatus))
    if (!end.answered && isMedia) return this.#report(await this.#mediaFinding(target, call, messages))
    this.#report(explainCall(trunk, call, messages))
    if (end.answered) this.#report(...explainAudio(end.media?.statistics, announcedIn(messages)))
    else this.#report(skipped('audio', 'The call was not answered: audio cannot be judged.'))
  }

  /** Null: it could not be placed, which is reported. */
  async #place(target: DialOptions, listenMs: Ms | null): Promise<TestCall | null> {
    await this.#options.beforeCall?.()
    try {
      return await placeTestCall({ endpoint: this.#endpoint, target, listenMs })
    } catch (error) {
      // Settings that contradict each other are reported already.
      if (!LegError.is(error, 'srtp_needs_tls')) throw error
      this.#report(skipped('call', 'No INVITE was sent: SRTP keys travel over TLS only.'))
      return null
    }
  }

  #messagesOf({ callId }: TestCall): CallMessages {
    return { invites: this.#log.invites(callId), responses: this.#log.responses(callId) }
  }

  /** Tries the call with other media, and hangs up as soon as it rings, to learn what was refused. */
  async #mediaFinding(target: DialOptions, { end }: TestCall, messages: CallMessages): Promise<Finding> {
    const { security = 'srtp-required', codecs = DEFAULT_CODECS } = target
    const isTls = target.nextHop?.transport === 'tls'
    const other = security === 'rtp-only' ? (isTls ? ('srtp-required' as const) : null) : ('rtp-only' as const)
    const otherSecurity = other === null ? null : await this.#isTaken({ ...target, security: other })
    const lacksCodecs = CODEC_NAMES.some(name => !codecs.includes(name))
    const allCodecs =
      otherSecurity === true || !lacksCodecs ? null : await this.#isTaken({ ...target, codecs: CODEC_NAMES })
    return explainMedia(end, security, codecs, { otherSecurity, allCodecs }, messages)
  }

  async #isTaken(target: DialOptions): Promise<boolean> {
    const call = await this.#place(target, null)
    if (call === null) return false
    const { cause, sipStatus } = call.end
    return call.rang || call.end.answered || (cause !== 'media-refused' && !MEDIA_REFUSALS.has(sipStatus ?? 488))
  }
}

function settingsFindings({ trunk, registration }: TrunkCheckOptions): readonly Finding[] {
  const { details, auth } = trunk
  const { transport = 'tls', media = 'srtp' } = details
  const found: Finding[] = []
  if (auth !== null && auth.secret === null)
    found.push(
      problem(
        'settings',
        'secret_missing',
        `The secret with the password of ${auth.username} is gone, or its pinned version is.`,
        'Store the password again as a secret of kind sip_auth, and pin its version in auth_secret of the trunk.',
      ),
    )
  if (transport !== 'tls' && media === 'srtp')
    found.push(
      problem(
        'settings',
        'settings_contradict',
        `The trunk has SRTP over ${transport.toUpperCase()}: keys travel over TLS only, so that no call is dialled and inbound ones get 488.`,
        'Set --transport tls, or on purpose --media rtp or --media srtp-without-tls.',
      ),
    )
  if (details.register === true && registration !== null && registration.state === 'failed')
    found.push(
      problem(
        'settings',
        'registration_failed',
        `The registration failed: ${registration.detail}.`,
        'Check auth_username, the password and --identity. 401 and 403 are wrong credentials, 404 is an unknown account.',
      ),
    )
  if (found.length > 0) return found
  const protocol = media === 'rtp' ? 'plain RTP' : 'SRTP'
  const who = auth === null ? 'no credentials' : `the credentials of ${auth.username}`
  return [ok('settings', `${transport.toUpperCase()}, ${protocol}, ${who}.`)]
}

function explainNames(
  host: string,
  transport: Target['transport'] | undefined,
  port: number | undefined,
  targets: readonly Target[],
): Finding {
  const service = transport === 'tls' ? '_sips._tcp' : `_sip._${transport ?? 'udp'}`
  if (targets.length > 0)
    return ok(
      'dns',
      `${host} is ${targets.map(({ address, port, transport }) => `${address}:${port} (${transport.toUpperCase()})`).join(', ')}.`,
    )
  if (/^[\d.]+$|:/.test(host))
    return problem(
      'dns',
      'address_not_permitted',
      `${host} is a private address, to which trunks may not lead.`,
      'Correct termination_uri of the trunk, or name the address and its port in PARLEY_EGRESS_ALLOW of the engines: host:port.',
    )
  const asked = port === undefined ? `no SRV record ${service}.${host}, and no A or AAAA record` : 'no A or AAAA record'
  return problem(
    'dns',
    'dns_not_found',
    `The DNS has no address of ${host} to which trunks may lead: ${asked}, or private ones only.`,
    'Correct termination_uri of the trunk, or --transport where the carrier has records for another. PARLEY_RESOLVE gives a name addresses without the DNS. Private addresses are named in PARLEY_EGRESS_ALLOW. Check that this machine reaches its name servers.',
  )
}

/** Our address in the offer, as the carrier read it. */
function announcedIn({ invites }: CallMessages): string {
  const sdp = Buffer.from(invites.at(-1)?.body ?? []).toString('latin1')
  const [, address = 'an unknown address'] = /^c=IN IP[46] (\S+)/m.exec(sdp) ?? []
  const [, port] = /^m=audio (\d+)/m.exec(sdp) ?? []
  return port === undefined ? address : `${address}:${port}`
}
