import { type Ms, SeededRandom, VirtualTime } from '@parley/kernel'
import { type InviteSession, parseNameAddr, parseUri, type SipUri, UserAgent, VirtualNetwork } from '@parley/sip'

const EXPIRES_S = 1800
const MINUTE_MS: Ms = 60_000
/** Calls begin over this time. */
const BEGIN_WITHIN_MS: Ms = 10 * MINUTE_MS
/** RFC 4028 section 10: the refresher refreshes at half of the interval. */
const DUE_MS: Ms = (EXPIRES_S * 1000) / 2
const TOLERANCE_MS: Ms = 2_000
const ADDRESSES = ['10.0.0.1', '10.0.0.2']
const BODY = { contentType: 'application/sdp', bytes: Buffer.from('v=0') }

interface RefreshFigures {
  readonly dialogs: number
  readonly refreshes: number
  /** Refreshes that came more than 2 s after half of the session interval. */
  readonly late: number
  /** Dialogs that ended before their time. */
  readonly ended: number
  /** Dialogs that were not refreshed in the last half interval. */
  readonly notRefreshed: number
}

/**
 * Keeps dialogs between two user agents for some hours of virtual time, with session timers of 1800 s. `outageMs`: a planted
 * fault, a network that loses everything for this long in the middle.
 */
export function measureRefreshes(dialogs: number, hours: number, outageMs: Ms = 0): RefreshFigures {
  const time = new VirtualTime()
  const network = new VirtualNetwork({ time, random: new SeededRandom(1) })
  const limits = { sessions: dialogs, serverTransactions: 1e6, serverTransactionsPerFlow: 1e6, clientTransactions: 1e6 }
  let ended = 0
  const watch = (session: InviteSession) =>
    session.onEvent(({ type }) => {
      if (type === 'ended') ended++
    })
  const agent = (host: string, address: string, seed: number) =>
    new UserAgent({
      time,
      random: new SeededRandom(seed),
      transport: network.element({ host, address }),
      guard: () => ({ action: 'accept' }),
      limits,
      sessionTimer: { expiresS: EXPIRES_S },
      onInvite: session => {
        watch(session)
        session.answer(BODY)
      },
    })
  const caller = agent('a.test', '10.0.0.1', 2)
  agent('b.test', '10.0.0.2', 3)
  const uri = parseUri('sip:b@b.test;transport=tcp') as SipUri
  const from = parseNameAddr('<sip:a@a.test>')!
  const tally = new RefreshTally()
  const endsAt = hours * 60 * MINUTE_MS
  let begun = 0
  while (time.now() < endsAt) {
    for (; begun < dialogs && time.now() >= (begun / dialogs) * BEGIN_WITHIN_MS; begun++)
      watch(caller.invite({ uri, from, body: BODY }))
    const isOut = time.now() >= endsAt / 2 && time.now() < endsAt / 2 + outageMs
    if (isOut) loseEverything(network)
    else for (const address of ADDRESSES) network.allow(address)
    time.advance(1000)
    for (const { at, text } of network.passed.splice(0)) tally.note(at, text)
  }
  return { dialogs, ended, ...tally.figures(time.now()) }
}

function loseEverything(network: VirtualNetwork): void {
  for (const address of ADDRESSES) {
    network.refuse(address)
    network.at(address)?.cutAll()
  }
}

/** The times of INVITEs and refreshes, by Call-ID. */
class RefreshTally {
  readonly #last = new Map<string, Ms>()
  #refreshes = 0
  #late = 0

  note(at: Ms, text: string): void {
    const isRefresh = text.startsWith('UPDATE ')
    if (!isRefresh && !text.startsWith('INVITE ')) return
    const callId = /^Call-ID: (\S+)/m.exec(text)?.[1]
    if (callId === undefined) return
    const before = this.#last.get(callId)
    this.#last.set(callId, at)
    if (!isRefresh || before === undefined) return
    this.#refreshes++
    if (at - before > DUE_MS + TOLERANCE_MS) this.#late++
  }

  figures(now: Ms): Pick<RefreshFigures, 'refreshes' | 'late' | 'notRefreshed'> {
    const notRefreshed = [...this.#last.values()].filter(at => now - at > DUE_MS + TOLERANCE_MS).length
    return { refreshes: this.#refreshes, late: this.#late, notRefreshed }
  }
}

/** Whether every dialog stayed and was refreshed on time. */
export function areOnTime({ dialogs, refreshes, late, ended, notRefreshed }: RefreshFigures): boolean {
  return refreshes >= dialogs && late === 0 && ended === 0 && notRefreshed === 0
}
