import { describe, expect, it } from 'vitest'
import { HeaderList } from '../message/header-list.ts'
import type { NameAddr, SipRequest } from '../message/message.ts'
import { createRequest, createResponse } from '../message/message-factory.ts'
import { parseNameAddr, serialiseNameAddr } from '../message/name-addr.ts'
import { serialiseUri } from '../message/uri.ts'
import { Dialog, dialogId, MAX_SEQUENCE } from './dialog.ts'

const address = (text: string): NameAddr => {
  const parsed = parseNameAddr(text)
  if (parsed === undefined) throw new Error(text)
  return parsed
}

const route1 = address('<sip:p1.test;lr>')
const route2 = address('<sip:p2.test;lr>')

const invite: SipRequest = {
  ...createRequest({
    method: 'INVITE',
    uri: address('<sip:bob@b.test>').uri,
    via: [],
    from: address('"Alice" <sip:alice@a.test>;tag=a'),
    to: address('<sip:bob@b.test>'),
    callId: 'call',
    cseq: { sequence: 7, method: 'INVITE' },
    contact: [address('<sip:alice@10.0.0.1:5070>')],
    headers: HeaderList.empty,
  }),
  recordRoute: [route1, route2],
}
const ok = {
  ...createResponse(invite, 200, { toTag: 'b', contact: [address('<sip:bob@10.0.0.2>')] }),
  recordRoute: [route1, route2],
}

const written = (dialog: Dialog, method = 'BYE') => {
  const request = dialog.request(method, dialog.reserveSequence())
  return {
    uri: serialiseUri(request.uri),
    route: request.route.map(route => serialiseNameAddr(route)),
    from: serialiseNameAddr(request.from),
    to: serialiseNameAddr(request.to),
    cseq: request.cseq.sequence,
  }
}

describe('dialog, RFC 3261 section 12', () => {
  it('the callee keeps the order of Record-Route, the caller reverses it', () => {
    expect(written(Dialog.ofServer(invite, 'b')).route).toEqual(['<sip:p1.test;lr>', '<sip:p2.test;lr>'])
    expect(written(Dialog.ofClient(invite, ok)).route).toEqual(['<sip:p2.test;lr>', '<sip:p1.test;lr>'])
  })

  it("requests are addressed to the peer's Contact, with local tag in From and remote tag in To", () => {
    const callee = written(Dialog.ofServer(invite, 'b'))
    expect(callee).toMatchObject({ uri: 'sip:alice@10.0.0.1:5070', from: '<sip:bob@b.test>;tag=b' })
    expect(callee.to).toBe('"Alice" <sip:alice@a.test>;tag=a')
    const caller = written(Dialog.ofClient(invite, ok))
    expect(caller).toMatchObject({ uri: 'sip:bob@10.0.0.2', to: '<sip:bob@b.test>;tag=b', cseq: 8 })
  })

  it('a strict first route becomes the Request-URI and the target travels last (12.2.1.1)', () => {
    const strict = address('<sip:strict.test;method=INVITE?x=y>')
    const dialog = Dialog.ofServer({ ...invite, recordRoute: [strict, route2] }, 'b')
    expect(written(dialog)).toMatchObject({
      uri: 'sip:strict.test',
      route: ['<sip:p2.test;lr>', '<sip:alice@10.0.0.1:5070>'],
    })
    expect(dialog.hop?.host).toBe('strict.test')
  })

  it("a request goes to the first route, else to the remote target, with the trunk's name as TLS identity", () => {
    expect(Dialog.ofServer(invite, 'b', 'trunk.test').hop).toMatchObject({ host: 'p1.test', serverName: 'trunk.test' })
    const direct = Dialog.ofServer({ ...invite, recordRoute: [] }, 'b')
    expect(direct.hop).toEqual({ host: '10.0.0.1', port: 5070, transport: undefined, serverName: undefined })
  })

  it('a target refresh changes the remote target and never the route set', () => {
    const dialog = Dialog.ofServer(invite, 'b')
    const moved = { ...invite, recordRoute: [], contact: [address('<sip:alice@10.0.0.99>')] }
    dialog.refreshTarget(moved)
    expect(written(dialog)).toMatchObject({
      uri: 'sip:alice@10.0.0.99',
      route: ['<sip:p1.test;lr>', '<sip:p2.test;lr>'],
    })
    dialog.refreshTarget({ ...moved, contact: [] })
    expect(written(dialog).uri).toBe('sip:alice@10.0.0.99')
  })

  it('a CSeq number lower than the last one is refused', () => {
    const dialog = Dialog.ofServer(invite, 'b')
    expect([8, 8, 20, 9, 7].map(number => dialog.acceptRemoteSequence(number))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
    const caller = Dialog.ofClient(invite, ok)
    expect(caller.acceptRemoteSequence(0)).toBe(true)
  })

  it('CSeq numbers stay below 2^31', () => {
    const dialog = Dialog.ofClient({ ...invite, cseq: { sequence: MAX_SEQUENCE - 1, method: 'INVITE' } }, ok)
    expect(dialog.reserveSequence()).toBe(MAX_SEQUENCE)
    expect(dialog.reserveSequence()).toBeLessThan(MAX_SEQUENCE)
  })

  it('a dialog restored from its JSON snapshot continues with the next CSeq number', () => {
    for (const dialog of [Dialog.ofServer(invite, 'b', 'trunk.test'), Dialog.ofClient(invite, ok)]) {
      dialog.acceptRemoteSequence(12)
      const restored = Dialog.restore(JSON.parse(JSON.stringify(dialog.snapshot())))!
      expect(restored.snapshot()).toEqual(dialog.snapshot())
      expect(restored.id).toBe(dialog.id)
      expect(restored.hop).toEqual(dialog.hop)
      expect(written(restored)).toEqual(written(dialog))
    }
    expect(Dialog.restore({ ...Dialog.ofClient(invite, ok).snapshot(), remoteTarget: 'no uri' })).toBeUndefined()
  })

  it('both ends have the same dialog id with the tags swapped', () => {
    expect(Dialog.ofServer(invite, 'b').id).toBe(dialogId('call', 'b', 'a'))
    expect(Dialog.ofClient(invite, ok).id).toBe(dialogId('call', 'a', 'b'))
  })
})
