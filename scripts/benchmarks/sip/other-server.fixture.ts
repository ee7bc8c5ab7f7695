// A SIP server that is not ours, as `--peer` names one: `node other-server.fixture.ts BUSY_MS PORT`. It answers each request but ACK with 200,
// and computes for BUSY_MS at each INVITE.
import { createSocket } from 'node:dgram'

const [busyMs, port] = process.argv.slice(2).map(Number)
const socket = createSocket('udp4')
socket.on('message', (bytes, from) => {
  const lines = bytes.toString('latin1').split('\r\n')
  if (lines[0]!.startsWith('ACK ')) return
  if (lines[0]!.startsWith('INVITE ')) compute(busyMs!)
  const copied = lines.filter(line => /^(?:Via|From|To|Call-ID|CSeq):/i.test(line))
  const headers = copied.map(line => (/^To:(?!.*tag=)/i.test(line) ? `${line};tag=other` : line))
  const contact = `Contact: <sip:127.0.0.1:${port}>`
  socket.send(
    ['SIP/2.0 200 OK', ...headers, contact, 'Content-Length: 0', '', ''].join('\r\n'),
    from.port,
    from.address,
  )
})

/** `ms`: processor time, of which a busy machine gives less than of time. */
function compute(ms: number): void {
  const before = process.cpuUsage()
  for (let spent = 0; spent < ms * 1000; ) {
    const { user, system } = process.cpuUsage(before)
    spent = user + system
  }
}

socket.bind(port, '127.0.0.1')
