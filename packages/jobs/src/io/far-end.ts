import { systemRandom, systemTime } from '@parley/kernel'
import {
  type DialogSnapshot,
  type InviteAttempt,
  type ResolveOverrides,
  SocketTransport,
  SystemResolver,
  type TlsIdentity,
  UserAgent,
} from '@parley/sip'
import { JobsError } from '../errors.ts'
import type { FarEnd, FarEndReply, JobLog } from '../protocol.ts'

interface SipFarEndOptions {
  /** IPv4 or IPv6 literal that requests leave from; default 127.0.0.1. */
  readonly bind?: string
  /** Host of Via; default `bind`. Needed when `bind` is a wildcard address. */
  readonly advertisedHost?: string
  /** Certificate for calls over TLS; the one that engines dial with. */
  readonly tls: TlsIdentity
  /** Used instead of the DNS. */
  readonly overrides?: ResolveOverrides
  readonly userAgentName?: string
  readonly log: JobLog
}

/** A far end reached by SIP. Requests that are pending when it is closed get no answer. */
export interface FarEndHangUp extends FarEnd {
  close(): Promise<void>
}

const REASON = { protocol: 'SIP', cause: 503, text: 'The process that owned the call died' } as const

/**
 * Ends calls over its own connections: TCP and TLS connections are opened, none are accepted; UDP uses any free port and accepts
 * only responses. Throws `listen_failed`, `bad_certificate`.
 */
export async function openSipFarEnd(options: SipFarEndOptions): Promise<FarEndHangUp> {
  const { bind, advertisedHost, tls, overrides, userAgentName, log } = options
  const resolver = new SystemResolver({ time: systemTime, ...(overrides && { overrides }) })
  try {
    const transport = await SocketTransport.open({
      ...(bind !== undefined && { bind }),
      ...(advertisedHost !== undefined && { advertisedHost }),
      udpPort: 0,
      tcpPort: null,
      tlsPort: null,
      tls,
      resolver,
      time: systemTime,
      random: systemRandom,
    })
    const agent = new UserAgent({
      time: systemTime,
      random: systemRandom,
      transport,
      // This process accepts no calls.
      guard: () => ({ action: 'drop' }),
      onInvite: session => session.reject(403),
      ...(userAgentName !== undefined && { userAgentName }),
      log: ({ level, event, detail }) => {
        if (level === 'error')
          log('hanging up for dead engines', new JobsError('hang_up_failed', `${event}: ${detail}`))
      },
    })
    return {
      // Another process, maybe of another version, stored them: what cannot be used is reported as not sent.
      bye: dialog => answered(() => agent.bye(dialog as unknown as DialogSnapshot, { reason: REASON })),
      cancel: dial => answered(() => agent.cancel(dial as unknown as InviteAttempt, { reason: REASON })),
      async close() {
        await agent.close()
        await transport.close()
        resolver.close()
      },
    }
  } catch (error) {
    resolver.close()
    throw error
  }
}

async function answered(
  ask: () => Promise<{ readonly confirmed: boolean; readonly status: number | undefined; readonly detail: string }>,
): Promise<FarEndReply> {
  try {
    const { confirmed, status, detail } = await ask()
    return { confirmed, status: status ?? null, detail }
  } catch (error) {
    return {
      confirmed: false,
      status: null,
      detail: `the request was not sent: ${error instanceof Error ? error.message : String(error)}`,
    }
  }
}
