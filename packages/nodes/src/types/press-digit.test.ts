import { describe, expect, it } from 'vitest'
import { pressDigit } from './press-digit.ts'

const phone = { channel: 'phone' as const, render: (template: string) => template.replace('{{pin}}', '12#') }
const nodeWith = (type: 'prompt' | 'static_text', text: string) =>
  pressDigit.schema.parse({ id: 'keys', type: 'press_digit', instruction: { type, text }, delay_ms: 200 })
const press = (digits: string) => ({
  next: 'request',
  request: { type: 'press_digits', digits, delay_ms: 200 },
})

describe('a press_digit node', () => {
  it('a press_digit node sends its static digits with variables filled in', () => {
    expect(pressDigit.enter?.(nodeWith('static_text', '9w{{pin}}'), phone)).toEqual(press('9w12#'))
  })

  it('a press_digit node with a prompt asks the model for digits and sends the answer', () => {
    const node = nodeWith('prompt', 'Choose sales')
    expect(pressDigit.enter?.(node, phone)).toMatchObject({ request: { type: 'infer', purpose: 'digits' } })
    expect(pressDigit.answer?.(node, { type: 'inferred', value: '2 x' }, phone)).toEqual(press('2'))
  })

  it.each([null, '', 'none', 7])(
    'a press_digit node sends nothing and listens when the model answers %j, which contains no digit',
    value => {
      const node = nodeWith('prompt', 'Choose sales')
      expect(pressDigit.answer?.(node, { type: 'inferred', value }, phone)).toEqual({ next: 'listen' })
    },
  )

  it('a press_digit node sends at most 64 digits', () => {
    expect(pressDigit.enter?.(nodeWith('static_text', '1'.repeat(70)), phone)).toEqual(press('1'.repeat(64)))
  })

  it('a press_digit node listens to the far end after its digits were sent', () => {
    const node = nodeWith('static_text', '1')
    expect(pressDigit.answer?.(node, { type: 'digits_pressed' }, phone)).toEqual({ next: 'listen' })
  })

  it('a press_digit node moves on at once on a channel other than the phone', () => {
    const chat = { ...phone, channel: 'cloud' as const }
    expect(pressDigit.enter?.(nodeWith('static_text', '1'), chat)).toEqual({ next: 'leave' })
  })
})

describe('the press_digit tool', () => {
  const tool = pressDigit.action.schema.parse({ action_id: 'keys', kind: 'press_digit', name: 'keys', delay_ms: 200 })

  it('the press_digit tool sends the digits of the tool call and returns "done" to the model', () => {
    expect(pressDigit.action.use(tool, { digits: '1' }, phone)).toEqual({ ...press('1'), result: 'done' })
  })

  it('a press_digit tool call without digits is ignored', () => {
    expect(pressDigit.action.use(tool, { digits: 'x' }, phone)).toEqual({ next: 'ignore' })
  })
})
