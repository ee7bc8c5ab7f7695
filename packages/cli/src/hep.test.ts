import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { LadderMessage } from '@parley/engine'
import { systemTime, VirtualTime } from '@parley/kernel'
import { expect, it } from 'vitest'
import { hepDatagram } from './hep.ts'
import { HepExport } from './hep-export.ts'

const BYE: LadderMessage = {
  callId: 'abc',
  at: 1_700_000_000_250,
  direction: 'in',
  transport: 'tls',
  source: '192.0.2.1:5061',
  destination: '198.51.100.2:40000',
  message: 'BYE sip:a SIP/2.0',
}

/** The chunks of a datagram: type to value in hex. */
function chunksOf(datagram: Buffer): Record<number, string> {
  expect(datagram.toString('latin1', 0, 4)).toBe('HEP3')
  expect(datagram.readUInt16BE(4)).toBe(datagram.length)
  const chunks: Record<number, string> = {}
  for (let at = 6; at < datagram.length; at += datagram.readUInt16BE(at + 4)) {
    expect(datagram.readUInt16BE(at)).toBe(0)
    const end = at + datagram.readUInt16BE(at + 4)
    chunks[datagram.readUInt16BE(at + 2)] = datagram.toString('hex', at + 6, end)
  }
  return chunks
}

it('a message over IPv4 has the chunks of HEP version 3', () => {
  expect(chunksOf(hepDatagram(BYE)!)).toEqual({
    1: '02',
    2: '06',
    3: 'c0000201',
    4: 'c6336402',
    7: '13c5',
    8: '9c40',
    9: '6553f100',
    10: '0003d090',
    11: '01',
    12: '000007ea',
    15: Buffer.from(BYE.message).toString('hex'),
    17: Buffer.from('abc').toString('hex'),
  })
})

it('a message over UDP and IPv6 has the addresses of IPv6', () => {
  const message = { ...BYE, transport: 'udp', source: '[2001:db8::1]:5060', destination: '[::1]:5060' } as const
  expect(chunksOf(hepDatagram(message)!)).toMatchObject({
    1: '0a',
    2: '11',
    5: '20010db8000000000000000000000001',
    6: '00000000000000000000000000000001',
  })
})

it('a message that is too long for a datagram is not sent', () => {
  expect(hepDatagram({ ...BYE, message: 'x'.repeat(65_500) })).toBeNull()
})

it('the capture server receives each message as a datagram', async () => {
  const server = createSocket('udp4')
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const exporter = new HepExport({
    server: { host: '127.0.0.1', port },
    time: systemTime,
    onProblem: (what, error) => {
      throw new Error(what, { cause: error })
    },
  })
  try {
    const received = once(server, 'message')
    exporter.send(BYE)
    const [datagram] = (await received) as [Buffer]
    expect(datagram).toEqual(hepDatagram(BYE))
  } finally {
    exporter.close()
    server.close()
  }
})

it('messages that cannot be exported are reported once a minute', () => {
  const problems: string[] = []
  const time = new VirtualTime()
  const exporter = new HepExport({
    server: { host: '127.0.0.1', port: 9060 },
    time,
    onProblem: what => problems.push(what),
  })
  try {
    const tooLong = { ...BYE, message: 'x'.repeat(65_500) }
    for (let i = 0; i < 100; i++) exporter.send(tooLong)
    expect(problems).toEqual(['sending SIP messages to the capture server of PARLEY_HEP failed'])
    time.advance(60_000)
    exporter.send(tooLong)
    expect(problems).toHaveLength(2)
  } finally {
    exporter.close()
  }
})
