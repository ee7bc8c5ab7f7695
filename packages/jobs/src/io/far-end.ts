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
  /** For calls over TLS; the same that engines dial with. */
  readonly tls: TlsIdentity
  /** Stand before the DNS. */
  readonly overrides?: ResolveOverrides
  readonly userAgentName?: string
  readonly log: JobLog
}

/** A far end that is told by SIP. Close it when nothing is asked of it any more: what it was asked then is not answered. */
export interface SipFarEnd extends FarEnd {
  close(): Promise<void>
}

const REASON = { protocol: 'SIP', cause: 503, text: 'The process that had the call died' } as const

/**
 * Ends calls over connections of its own: TCP and TLS are dialled, nothing listens there; UDP leaves from any free port,
 * where only answers are taken. Throws `listen_failed`, `bad_certificate`.
 */
export async function openSipFarEnd(options: SipFarEndOptions): Promise<SipFarEnd> {
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
      // Nobody calls this process.
      guard: () => ({ action: 'drop' }),
      onInvite: session => session.reject(403),
      ...(userAgentName !== undefined && { userAgentName }),
      log: ({ level, event, detail }) => {
        if (level === 'error')
          log('hanging up for dead engines', new JobsError('hang_up_failed', `${event}: ${detail}`))
      },
    })
    return {
      // What was stored is what another process wrote: it may be of another version.
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
      detail: `not sent: ${error instanceof Error ? error.message : String(error)}`,
    }
  }
}
