import { expect, it } from 'vitest'
import { sipLine } from './sip-message.ts'

it('a request shows its method and the type of its body', () => {
  const message = 'INVITE sip:a@b SIP/2.0\r\nCSeq: 1 INVITE\r\nContent-Type: application/sdp\r\n\r\nv=0\r\n'
  expect(sipLine(message)).toEqual({
    title: 'INVITE',
    isRequest: true,
    statusClass: 0,
    cseq: '1 INVITE',
    body: 'application/sdp',
  })
})

it('a response shows its status and the request that it answers', () => {
  expect(sipLine('SIP/2.0 486 Busy Here\r\ncseq : 2 INVITE\r\n\r\n')).toEqual({
    title: '486 Busy Here',
    isRequest: false,
    statusClass: 4,
    cseq: '2 INVITE',
    body: null,
  })
})

it('a text that is no SIP message is shown as far as it can be read', () => {
  expect(sipLine('')).toMatchObject({ title: '', cseq: '', body: null })
})
