import { MeasuredSubject } from './measured-subject.ts'

/** Transactions of the calls' INVITEs are remembered for 64*T1 (RFC 6026), and are no part of an idle dialog. */
const TRANSACTIONS_GONE_MS = 34_000
const HOLD_PER_SECOND = 300

interface MemoryFigures {
  readonly dialogs: number
  readonly bytesPerDialog: number
  readonly connections: number
  readonly bytesPerConnection: number
}

/** Memory of a user agent for each idle dialog (JavaScript objects) and each idle TLS connection (resident set). Throws if a call fails. */
export async function measureMemory(dialogs: number, connections: number): Promise<MemoryFigures> {
  const subject = await MeasuredSubject.open('ua')
  try {
    const caller = await subject.caller()
    // Compiles the code and fills caches, so that they do not count.
    await caller.ask({ type: 'call', count: 500, perSecond: HOLD_PER_SECOND }, 'called')
    await caller.ask({ type: 'connect', count: 20 }, 'connected')
    await pause(TRANSACTIONS_GONE_MS)
    const idle = await subject.measure(true)
    const held = await caller.ask({ type: 'hold', count: dialogs, perSecond: HOLD_PER_SECOND }, 'held')
    await pause(TRANSACTIONS_GONE_MS)
    const withDialogs = await subject.measure(true)
    const connected = await caller.ask({ type: 'connect', count: connections }, 'connected')
    const withConnections = await subject.measure(true)
    await caller.end()
    if (held.failed > 0 || withDialogs.dialogs !== dialogs || connected.failed > 0)
      throw new Error(`${held.failed} calls and ${connected.failed} connections failed`)
    return {
      dialogs,
      bytesPerDialog: Math.round((withDialogs.heapBytes - idle.heapBytes) / dialogs),
      connections,
      bytesPerConnection: Math.round((withConnections.rssBytes - withDialogs.rssBytes) / connections),
    }
  } finally {
    await subject.close()
  }
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
