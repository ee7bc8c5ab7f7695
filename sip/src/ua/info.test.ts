import { describe, expect, it } from 'vitest'
import { Pair, textOf } from './testing/pair.ts'

const digit = (text: string) => ({ contentType: 'application/dtmf-relay', bytes: new TextEncoder().encode(text) })

describe('INFO', () => {
  it('digits arrive in order even if datagrams are lost', () => {
    const pair = new Pair({ seed: 5 })
    const { caller, callee } = pair.established()
    pair.network.loss = 0.3
    const dialled = [...'1234567890*#']
    for (const name of dialled) caller.session.info(digit(`Signal=${name}\r\n`))
    pair.time.advance(200_000)
    const heard = callee.events.filter(event => event.type === 'info').map(event => textOf(event.body)?.[7])
    expect(heard).toEqual(dialled)
    const results = caller.events.filter(event => event.type === 'info-result').map(event => event.status)
    expect(results).toEqual(dialled.map(() => 200))
  })

  it('an INFO of an unsupported type gets 415 with Accept and causes no event', () => {
    const pair = new Pair()
    const { caller, callee } = pair.established()
    caller.session.info({ contentType: 'application/media_control+xml', bytes: new TextEncoder().encode('<x/>') })
    pair.time.advance(100)
    expect(caller.events.at(-1)).toEqual({ type: 'info-result', status: 415 })
    expect(callee.types).not.toContain('info')
    const answer = pair.network.passed.findLast(({ text }) => text.startsWith('SIP/2.0 415'))
    expect(answer?.text).toContain('Accept: application/dtmf-relay, application/dtmf')
  })

  it('an INFO whose connection closed is not sent again: its result is 503, and the next INFO dials', () => {
    const pair = new Pair({ transport: 'tcp' })
    const { caller, callee } = pair.established()
    caller.session.info(digit('Signal=1\r\n'))
    pair.time.advance(5)
    pair.a.transport.cutAll()
    pair.time.advance(40_000)
    expect(caller.events.at(-1)).toEqual({ type: 'info-result', status: 503 })
    expect(pair.trace.filter(line => line === 'a> INFO')).toHaveLength(1)
    caller.session.info(digit('Signal=2\r\n'))
    pair.time.advance(200)
    expect(caller.events.at(-1)).toEqual({ type: 'info-result', status: 200 })
    expect(callee.events.filter(({ type }) => type === 'info')).toHaveLength(1)
  })

  it('an INFO that was not sent because the connection was already dead uses a new one', () => {
    const pair = new Pair({ transport: 'tcp' })
    const { caller } = pair.established()
    pair.a.transport.cutAll()
    caller.session.info(digit('Signal=1\r\n'))
    pair.time.advance(200)
    expect(caller.events.at(-1)).toEqual({ type: 'info-result', status: 200 })
  })

  it('a 481 to an INFO ends the session', () => {
    const pair = new Pair()
    const { caller } = pair.established()
    // The peer restarted and has lost its dialogs.
    pair.b.transport.silence()
    caller.session.info(digit('Signal=1\r\n'))
    pair.time.advance(20)
    const info = pair.network.passed.findLast(({ text }) => text.startsWith('INFO'))!
    const response = info.text
      .replace(/^INFO .*\r\n/, 'SIP/2.0 481 Gone\r\n')
      .replace(/Max-Forwards.*\r\n/, '')
      .replace(/Content-Type.*\r\n/, '')
      .replace(/Content-Length: \d+[\s\S]*/, 'Content-Length: 0\r\n\r\n')
    const target = { address: '10.0.0.1', port: 5060, transport: 'udp', serverName: '' } as const
    const bytes = new TextEncoder().encode(response)
    pair.b.transport.submit({ type: 'send', sendId: 1000, to: { target }, bytes })
    pair.time.advance(40_000)
    expect(caller.end).toMatchObject({ cause: 'protocol', status: 200, confirmed: false })
  })
})
