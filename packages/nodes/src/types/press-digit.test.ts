import { describe, expect, it } from 'vitest'
import { pressDigit, pressDigitAction } from './press-digit.ts'

const phone = { channel: 'phone' as const, render: (template: string) => template.replace('{{pin}}', '12#') }
const nodeWith = (type: 'prompt' | 'static_text', text: string) =>
  pressDigit.schema.parse({ id: 'keys', type: 'press_digit', instruction: { type, text }, delay_ms: 200 })
const press = (digits: string) => ({
  next: 'request',
  request: { type: 'press_digits', digits, delay_ms: 200 },
})

describe('a press_digit node', () => {
  it('requests its static digits, variables filled in', () => {
    expect(pressDigit.enter?.(nodeWith('static_text', '9w{{pin}}'), phone)).toEqual(press('9w12#'))
  })

  it('asks the model for the digits of a prompt, and presses the answer', () => {
    const node = nodeWith('prompt', 'Choose sales')
    expect(pressDigit.enter?.(node, phone)).toMatchObject({ request: { type: 'infer', purpose: 'digits' } })
    expect(pressDigit.answer?.(node, { type: 'inferred', value: '2 x' }, phone)).toEqual(press('2'))
  })

  it.each([null, '', 'none', 7])('listens where the model answers %j, which holds no digit', value => {
    const node = nodeWith('prompt', 'Choose sales')
    expect(pressDigit.answer?.(node, { type: 'inferred', value }, phone)).toEqual({ next: 'listen' })
  })

  it('presses at most 64 digits', () => {
    expect(pressDigit.enter?.(nodeWith('static_text', '1'.repeat(70)), phone)).toEqual(press('1'.repeat(64)))
  })

  it('listens after the digits were pressed', () => {
    const node = nodeWith('static_text', '1')
    expect(pressDigit.answer?.(node, { type: 'digits_pressed' }, phone)).toEqual({ next: 'listen' })
  })

  it('is left at once where there is no phone call', () => {
    const chat = { ...phone, channel: 'cloud' as const }
    expect(pressDigit.enter?.(nodeWith('static_text', '1'), chat)).toEqual({ next: 'leave' })
  })
})

describe('the press_digit tool', () => {
  const tool = pressDigitAction.schema.parse({ action_id: 'keys', kind: 'press_digit', name: 'keys', delay_ms: 200 })

  it('requests the digits of the call and tells the model that it is done', () => {
    expect(pressDigitAction.use(tool, { digits: '1' }, phone)).toEqual({ ...press('1'), result: 'done' })
  })

  it('ignores a call without digits', () => {
    expect(pressDigitAction.use(tool, { digits: 'x' }, phone)).toEqual({ next: 'ignore' })
  })
})
