import { describe, expect, it } from 'vitest'
import { extractSdp } from './multipart.ts'

const SDP = 'v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\n'

function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'))
}

function body(parts: readonly (readonly [headers: string, content: string])[], boundary = 'b1'): string {
  const joined = parts.map(([headers, content]) => `--${boundary}\r\n${headers}\r\n${content}\r\n`).join('')
  return `${joined}--${boundary}--\r\n`
}

function sdpOf(contentType: string, text: string): string | object {
  const extracted = extractSdp(contentType, bytes(text))
  return extracted.ok ? Buffer.from(extracted.sdp).toString('latin1') : extracted
}

const ISUP = ['Content-Type: application/isup;version=x\r\n', 'a\0\xff--b1\r\n'] as const
const OFFER = ['Content-Type: application/sdp\r\nContent-Disposition: session\r\n', SDP] as const

describe('the SDP of a message body', () => {
  it.each([
    ['application/sdp', SDP],
    ['Application/SDP; charset=utf-8', SDP],
    ['multipart/mixed;boundary=b1', body([ISUP, OFFER])],
    ['multipart/mixed; boundary="b1"', body([OFFER, ISUP])],
    ['multipart/alternative ; Boundary = b1', `preamble --b1\r\n${body([OFFER])}epilogue`],
    ['multipart/mixed;boundary="b 1"', body([OFFER], 'b 1')],
    ['multipart/mixed', body([ISUP, OFFER])],
    ['multipart/mixed;boundary=b1', body([OFFER]).replace('--b1--\r\n', '')],
    ['multipart/mixed;boundary=b1', body([['content-type:application/sdp ; x=y\r\n', SDP]])],
  ])('the SDP is found in %s', (contentType, text) => {
    expect(String(sdpOf(contentType, text)).trimEnd()).toBe(SDP.trimEnd())
  })

  it('the SDP of a multipart body ends before the line end of the delimiter', () => {
    expect(sdpOf('multipart/mixed;boundary=b1', body([OFFER]))).toBe(SDP)
  })

  it.each([
    ['text/plain', SDP, 415],
    ['', SDP, 415],
    ['multipart/mixed;boundary=b1', body([ISUP]), 415],
    ['multipart/mixed;boundary=b1', body([['', SDP]]), 415],
    ['multipart/mixed;boundary=b1', '--b1--\r\n', 415],
    ['multipart/mixed;boundary=other', body([OFFER]), 400],
    ['multipart/mixed', 'nothing', 400],
    ['multipart/mixed;boundary=b1', '--b1\r\nContent-Type: application/sdp', 400],
    ['multipart/mixed;boundary=b1', `--b1\r\n${'X: y\r\n'.repeat(40)}\r\n${SDP}`, 400],
    ['multipart/mixed;boundary=b1', body(Array.from({ length: 20 }, () => ISUP)), 400],
    ['multipart/mixed;boundary=b1', '\n'.repeat(70_000), 400],
  ])('a body of type %j without SDP is refused %#', (contentType, text, status) => {
    expect(sdpOf(contentType, text)).toMatchObject({ ok: false, status })
  })
})
