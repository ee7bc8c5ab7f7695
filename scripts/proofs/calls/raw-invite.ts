import { createSocket } from 'node:dgram'
import { once } from 'node:events'

const ANSWER_TIMEOUT_MS = 5000

interface RawAnswer {
  /** Null: no final answer within 5 s. */
  readonly status: number | null
  readonly hasRetryAfter: boolean
}

/** Sends one INVITE over UDP as a carrier would, and returns the first final response. `uri` must contain the port. */
export async function rawInvite(uri: string): Promise<RawAnswer> {
  const [, host = '', port = ''] = /@([\d.]+):(\d+)/.exec(uri) ?? []
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const localPort = socket.address().port
  const mark = `proof${localPort}`
  const body = `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio ${localPort} RTP/AVP 0\r\n`
  const lines = [
    `INVITE ${uri} SIP/2.0`,
    `Via: SIP/2.0/UDP 127.0.0.1:${localPort};branch=z9hG4bK${mark};rport`,
    'Max-Forwards: 70',
    `From: <sip:+14155560199@carrier.example>;tag=${mark}`,
    `To: <${uri}>`,
    `Call-ID: ${mark}`,
    'CSeq: 1 INVITE',
    `Contact: <sip:${mark}@127.0.0.1:${localPort}>`,
    'Content-Type: application/sdp',
    `Content-Length: ${body.length}`,
  ]
  const answer = Promise.withResolvers<RawAnswer>()
  socket.on('message', message => {
    const text = message.toString('latin1')
    const status = Number(/^SIP\/2\.0 (\d{3})/.exec(text)?.[1])
    if (status >= 200) answer.resolve({ status, hasRetryAfter: /^Retry-After: *\d/im.test(text) })
  })
  const timer = setTimeout(() => answer.resolve({ status: null, hasRetryAfter: false }), ANSWER_TIMEOUT_MS)
  socket.send(`${lines.join('\r\n')}\r\n\r\n${body}`, Number(port), host)
  try {
    return await answer.promise
  } finally {
    clearTimeout(timer)
    socket.close()
  }
}
