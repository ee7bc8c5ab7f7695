import { SeededRandom } from '@parley/kernel'
import {
  type Body,
  createResponse,
  type Flow,
  HeaderList,
  parseNameAddr,
  parseUri,
  type SipRequest,
  type SipUri,
  serialise,
} from '@parley/sip'
import { describe, expect, it } from 'vitest'
import { inviteOffer, Negotiation } from './negotiation.ts'
import { VirtualLine } from './virtual-line.ts'

interface Reply {
  readonly sdp?: Body
  /** Makes a provisional response reliable (RFC 3262). */
  readonly rseq?: number
}

/** A proxy at 192.0.2.9 that forks the call of `line.a`; each fork is a To tag with a media address of its own. */
class ForkingProxy {
  readonly line = new VirtualLine()
  /** Where `a` sends its RTP: last byte of the address. */
  readonly destinations: number[] = []
  readonly #transport = this.line.signalling.element({ address: '192.0.2.9' })
  #invite: { readonly request: SipRequest; readonly flow: Flow } | undefined
  #sendId = 1

  constructor() {
    this.#transport.onInput(input => {
      if (input.type !== 'message' || !input.result.ok || input.result.message.kind !== 'request') return
      const { message: request } = input.result
      if (request.method === 'INVITE') this.#invite = { request, flow: input.flow }
      else if (request.method !== 'ACK') this.#send(request, input.flow, 200, {})
    })
    this.line.packets.onSend = (_from, _packet, _length, ipv4) => {
      this.destinations.push(ipv4 & 0xff)
    }
  }

  async dial(): Promise<void> {
    await this.line.dial({ uri: parseUri('sip:bob@192.0.2.9;transport=tls') as SipUri })
    await this.line.pass(200)
  }

  /** The answer of a fork whose media address ends in `host`. */
  answerOf(host: number): Body {
    const fork = new Negotiation({
      address: `192.0.2.${host}`,
      port: 10_000,
      security: 'srtp-required',
      random: new SeededRandom(host),
    })
    const answer = fork.answer(inviteOffer(this.#invite!.request)!)
    if (!answer.ok) throw new Error(answer.detail)
    return answer.body
  }

  async reply(status: number, toTag: string, { sdp, rseq }: Reply = {}): Promise<void> {
    const headers =
      rseq === undefined ? HeaderList.empty : HeaderList.empty.with('Require', '100rel').with('RSeq', String(rseq))
    this.#send(this.#invite!.request, this.#invite!.flow, status, {
      toTag,
      headers,
      contact: [parseNameAddr(`<sip:${toTag}@192.0.2.9;transport=tls>`)!],
      ...(sdp && { body: sdp.bytes, contentType: sdp.contentType }),
    })
    await this.line.pass(200)
  }

  #send(request: SipRequest, flow: Flow, status: number, options: Parameters<typeof createResponse>[2]): void {
    const bytes = serialise(createResponse(request, status, options))
    this.#transport.submit({ type: 'send', sendId: this.#sendId++, to: { flow }, bytes })
  }

  /** Where the audio of the next second goes. */
  async audioGoesTo(): Promise<number[]> {
    this.destinations.length = 0
    await this.line.pass(1000)
    return [...new Set(this.destinations)]
  }
}

describe('an outbound call that a proxy forks (RFC 3261 section 13.2.2.4)', () => {
  it('an outbound call that a proxy forks sends its audio to the fork that answers, although another fork had answered the offer reliably before', async () => {
    const proxy = new ForkingProxy()
    await proxy.dial()
    await proxy.reply(183, 'announcement', { sdp: proxy.answerOf(21), rseq: 1 })
    expect(await proxy.audioGoesTo()).toEqual([21])
    await proxy.reply(180, 'person')
    await proxy.reply(200, 'person', { sdp: proxy.answerOf(22) })
    expect(await proxy.audioGoesTo()).toEqual([22])
    expect(proxy.line.a.leg!.state).toBe('active')
  })

  it('an outbound call that a proxy forks uses the early answer of the fork that answers when its 200 carries none', async () => {
    const proxy = new ForkingProxy()
    await proxy.dial()
    await proxy.reply(183, 'person', { sdp: proxy.answerOf(22) })
    await proxy.reply(183, 'announcement', { sdp: proxy.answerOf(21), rseq: 7 })
    expect(await proxy.audioGoesTo()).toEqual([21])
    await proxy.reply(200, 'person')
    expect(await proxy.audioGoesTo()).toEqual([22])
  })

  it('an outbound call that a proxy forks returns to the fork with the first of two reliable answers when that one answers', async () => {
    const proxy = new ForkingProxy()
    await proxy.dial()
    await proxy.reply(183, 'person', { sdp: proxy.answerOf(22), rseq: 1 })
    await proxy.reply(183, 'announcement', { sdp: proxy.answerOf(21), rseq: 50 })
    expect(await proxy.audioGoesTo()).toEqual([21])
    await proxy.reply(200, 'person', { sdp: proxy.answerOf(99) })
    expect(await proxy.audioGoesTo()).toEqual([22])
  })
})
