import { systemRandom } from '@parley/kernel'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isStun, readBindingAnswer, stunBindingRequest, stunTransaction } from './stun.ts'

const bytesOf = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
const TRANSACTION = 'b7e7a701bc34d686fa87dfae'

it('a binding request has no attributes, and a transaction of its own', () => {
  const [one, other] = [stunBindingRequest(systemRandom), stunBindingRequest(systemRandom)]
  expect(isStun(one)).toBe(true)
  expect(Buffer.from(one).toString('hex')).toBe(`000100002112a442${stunTransaction(one)}`)
  expect(stunTransaction(other)).not.toBe(stunTransaction(one))
})

it('the address of the sample response of RFC 5769 section 2.2 is read, behind another attribute', () => {
  const software = '80 22 00 0b 74 65 73 74 20 76 65 63 74 6f 72 20'
  const answer = bytesOf(`01 01 00 1c 21 12 a4 42 ${TRANSACTION} ${software} 00 20 00 08 00 01 a1 47 e1 12 a6 43`)
  // 192.0.2.1 port 32853
  expect(readBindingAnswer(answer)).toEqual({ type: 'success', mapped: 'c00002018055' })
  expect(stunTransaction(answer)).toBe(TRANSACTION)
})

it('the address of the sample response of RFC 5769 section 2.3 is read, which is of IPv6', () => {
  const address = '01 13 a9 fa a5 d3 f1 79 bc 25 f4 b5 be d2 b9 d9'
  const answer = bytesOf(`01 01 00 18 21 12 a4 42 ${TRANSACTION} 00 20 00 14 00 02 a1 47 ${address}`)
  // 2001:db8:1234:5678:11:2233:4455:6677 port 32853
  expect(readBindingAnswer(answer)).toEqual({ type: 'success', mapped: '20010db81234567800112233445566778055' })
})

it('an error response and a success without an address are told apart', () => {
  expect(readBindingAnswer(bytesOf(`01 11 00 00 21 12 a4 42 ${TRANSACTION}`))).toEqual({ type: 'error' })
  expect(readBindingAnswer(bytesOf(`01 01 00 00 21 12 a4 42 ${TRANSACTION}`))).toEqual({
    type: 'success',
    mapped: null,
  })
})

it('a request, a wrong length and an attribute that is cut off are no answers', () => {
  const of = (head: string, rest = '') => readBindingAnswer(bytesOf(`${head} 21 12 a4 42 ${TRANSACTION} ${rest}`))
  expect(of('00 01 00 00')).toBeNull()
  expect(of('01 01 00 04')).toBeNull()
  expect(of('01 01 00 08', '00 20 00 08 00 01 a1 47')).toBeNull()
})

it('any attributes are read without a throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), attributes => {
      const answer = Uint8Array.from([
        ...bytesOf(`01 01 00 ${attributes.length.toString(16).padStart(2, '0')} 21 12 a4 42 ${TRANSACTION}`),
        ...attributes,
      ])
      const read = readBindingAnswer(answer)
      expect(read === null || read.type === 'success').toBe(true)
    }),
  )
})
