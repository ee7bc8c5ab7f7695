import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decodeFile } from './decode.ts'

const torture = (name: string) => readFileSync(new URL(`./fixtures/rfc4475/${name}.dat`, import.meta.url))

describe('parley sip decode', () => {
  it('parley sip decode prints an accepted message field by field, as JSON', () => {
    const { exitCode, json } = decodeFile(torture('wsinv'))
    expect(exitCode).toBe(0)
    expect(JSON.parse(JSON.stringify(json))).toMatchObject({
      accepted: true,
      faults: [{ code: 'rfc2543_branch', where: 'Via' }],
      message: {
        kind: 'request',
        method: 'INVITE',
        uri: { text: 'sip:vivekg@chair-dnrc.example.com;unknownparam', host: 'chair-dnrc.example.com' },
        max_forwards: 68,
        via: [{ transport: 'UDP', host: '192.0.2.2', port: null }, {}, {}],
        from: { display_name: 'J Rosenberg \\"', params: [{ name: 'tag', value: '98asjd8' }] },
        cseq: { sequence: 9, method: 'INVITE' },
        body: { bytes: 150, media_type: 'application/sdp' },
      },
    })
  })

  it('parley sip decode prints a body that is not text in base64', () => {
    const { json } = decodeFile(torture('mpart01'))
    expect((json.message as { body: object }).body).toHaveProperty('base64')
  })

  it('parley sip decode prints the response to a malformed message and the offset of the fault', () => {
    const bytes = torture('mcl01')
    expect(decodeFile(bytes)).toMatchObject({
      exitCode: 2,
      json: {
        accepted: false,
        answer: 400,
        offset: bytes.lastIndexOf('Content-Length'),
        fault: { code: 'duplicate_header' },
      },
    })
  })

  it('parley sip decode prints a well-formed request that a user agent rejects, with the offset of the rejected header', () => {
    const bytes = torture('bext01')
    expect(decodeFile(bytes)).toMatchObject({
      exitCode: 2,
      json: { answer: 420, offset: bytes.indexOf('Require'), message: { method: 'OPTIONS' } },
    })
  })

  it('parley sip decode applies the capabilities that the caller passes: one user agent rejects what another accepts', () => {
    const abilities = {
      methods: ['INVITE', 'ACK', 'BYE', 'CANCEL', 'OPTIONS'],
      extensions: [],
      mediaTypes: ['application/sdp'],
    }
    expect(decodeFile(torture('regescrt'))).toMatchObject({ exitCode: 0 })
    expect(decodeFile(torture('regescrt'), { abilities })).toMatchObject({ exitCode: 2, json: { answer: 405 } })
  })

  it('parley sip decode reads a file as a stream if the framing option says so', () => {
    expect(decodeFile(torture('inv2543'), { kind: 'stream' })).toMatchObject({
      exitCode: 2,
      json: { answer: 400, fatal: true },
    })
    expect(decodeFile(torture('clerr'), { kind: 'stream' })).toMatchObject({
      exitCode: 2,
      json: { answer: null, fault: { code: 'incomplete' } },
    })
    expect(decodeFile(torture('dblreq'), { kind: 'stream' })).toMatchObject({ exitCode: 0 })
  })
})
