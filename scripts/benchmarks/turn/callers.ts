import { setTimeout as sleep } from 'node:timers/promises'
import { type Ms, systemRandom, systemTime } from '@parley/kernel'
import { PhoneVoice } from '@parley/phone'
import { TonesVoice } from '@parley/providers'
import { SocketTransport, SystemResolver, type TlsIdentity, UserAgent } from '@parley/sip'
import { crispEnd, crispEndWithTones } from './crisp-audio.ts'
import type { LiveWindow } from './live-window.ts'
import { CALLER_LINES } from './script.ts'
import { type MeasuredCall, measureCall } from './wire-caller.ts'
import { WireLine } from './wire-line.ts'

/** Delay between the starts of calls, so that their turns do not coincide. */
const STAGGER_MS: Ms = 40

interface CallersOptions {
  readonly target: string
  /** The identity of callers over TLS with SRTP; null: UDP and RTP. */
  readonly tls: TlsIdentity | null
  readonly calls: number
  readonly warmUpTurns: number
  /** All turns of a call; null: the calls go on until the window is over. */
  readonly turns: number | null
  readonly quietMs: Ms
  readonly lines: readonly Int16Array[]
  readonly window: Pick<LiveWindow<unknown>, 'isOver' | 'warm' | 'done' | 'broken'>
}

/** The callers' lines in the built-in voice. `knowsTones`: whether the engine removes the tones before voice activity detection. */
export async function callerLines(knowsTones: boolean): Promise<Int16Array[]> {
  const crisp = knowsTones ? crispEnd : crispEndWithTones
  const voice = new TonesVoice()
  try {
    const phone = new PhoneVoice(voice, 'en')
    const lines: Int16Array[] = []
    for (const text of CALLER_LINES) lines.push(crisp(await phone.render(text)))
    return lines
  } finally {
    await voice.close()
  }
}

/** Makes the calls at once over one user agent and measures their turns. */
export async function measureCalls(options: CallersOptions): Promise<readonly MeasuredCall[]> {
  const { calls, tls, ...shared } = options
  const resolver = new SystemResolver({ time: systemTime })
  const parts = { time: systemTime, random: systemRandom, resolver }
  const ports = tls === null ? { udpPort: 0 } : { tlsPort: 0, tls }
  const transport = await SocketTransport.open({ ...parts, ...ports })
  const userAgent = new UserAgent({
    ...parts,
    transport,
    userAgentName: 'wire',
    // The callers receive no calls.
    guard: () => ({ action: 'drop' }),
    onInvite: session => session.reject(486),
  })
  const line = new WireLine()
  try {
    const measuring = Array.from({ length: calls }, async (_, i) => {
      await sleep(i * STAGGER_MS)
      return measureCall({ ...shared, userAgent, line, secure: tls !== null, name: `caller-${i + 1}` })
    })
    return await Promise.all(measuring)
  } finally {
    await userAgent.close()
    await transport.close()
    resolver.close()
  }
}
