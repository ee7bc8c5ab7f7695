import { describe, expect, it } from 'vitest'
import { integer, nullable, optional } from '../testing/field-cases.ts'
import {
  actionSchemaFaults,
  draftWith,
  edgesCases,
  instructionCases,
  nodeSchemaFaults,
  slotCases,
  viewOn,
} from '../testing/schema-cases.ts'
import { pressDigit } from './press-digit.ts'

const phone = viewOn('phone', { pin: '12#' })
const chat = viewOn('cloud')
const nodeWith = (type: 'prompt' | 'static_text', text: string) =>
  pressDigit.schema.parse({ id: 'keys', type: 'press_digit', instruction: { type, text }, delay_ms: 200 })
const press = (digits: string) => ({
  next: 'request',
  request: { type: 'press_digits', digits, delay_ms: 200 },
})
const delay_ms = optional(integer(0, 10_000))

describe('a press_digit node', () => {
  it('a press_digit node accepts its fields within their bounds and names the field that it refuses', () => {
    const fields = { instruction: instructionCases, delay_ms, edges: edgesCases, else_edge: slotCases }
    expect(nodeSchemaFaults(pressDigit, { instruction: { type: 'static_text', text: '1' } }, fields)).toEqual([])
    expect(pressDigit.slots).toEqual(['edges', 'else_edge'])
  })

  it('a press_digit node waits one second before it sends its digits by default', () => {
    const node = { id: 'n', type: 'press_digit', instruction: { type: 'static_text', text: '1' } }
    expect(pressDigit.schema.parse(node)).toMatchObject({ delay_ms: 1000 })
  })

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

  it('a press_digit node listens to the far end after its digits were sent, and when the conversation returns to it', () => {
    const node = nodeWith('static_text', '1')
    expect(pressDigit.answer?.(node, { type: 'digits_pressed' }, phone)).toEqual({ next: 'listen' })
    expect(pressDigit.resume?.(node, phone)).toEqual({ next: 'listen' })
  })

  it('a press_digit node moves on at once on a channel other than the phone', () => {
    expect(pressDigit.enter?.(nodeWith('static_text', '1'), chat)).toEqual({ next: 'leave' })
  })

  it('a press_digit node that no edge leads out of asks the model for the next digits, or listens where its digits are fixed', () => {
    expect(pressDigit.stuck?.(nodeWith('prompt', 'Choose sales'), phone)).toMatchObject({ request: { type: 'infer' } })
    expect(pressDigit.stuck?.(nodeWith('prompt', 'Choose sales'), chat)).toEqual({ next: 'listen' })
    expect(pressDigit.stuck?.(nodeWith('static_text', '1'), phone)).toEqual({ next: 'listen' })
  })

  it('the far end of a press_digit node is a machine and is not reminded', () =>
    expect(pressDigit.remindsCaller).toBe(false))

  it('a press_digit node with a static text that no keypad has yields an error, and the fix makes the text a prompt', () => {
    expect(pressDigit.check?.(nodeWith('static_text', '1w{{pin}}#'), draftWith({}))).toEqual([])
    expect(pressDigit.check?.(nodeWith('prompt', 'press one'), draftWith({}))).toEqual([])
    expect(pressDigit.check?.(nodeWith('static_text', 'press one'), draftWith({}))).toMatchObject([
      {
        severity: 'error',
        code: 'draft_malformed',
        path: ['instruction', 'text'],
        fixes: [{ fix: 'put', part: { instruction: { type: 'prompt', text: 'press one' } } }],
      },
    ])
  })
})

describe('the press_digit tool', () => {
  const { action } = pressDigit
  const toolOf = (fields: object = {}) =>
    action.schema.parse({ action_id: 'keys', kind: 'press_digit', name: 'keys', delay_ms: 200, ...fields })

  it('a press_digit action accepts its fields within their bounds and names the field that it refuses', () => {
    const fields = { instruction: optional(nullable(instructionCases)), delay_ms }
    expect(actionSchemaFaults(action, {}, fields)).toEqual([])
  })

  it('the press_digit tool sends the digits of the tool call and returns "done" to the model', () => {
    expect(action.parameters(toolOf())).toMatchObject({ required: ['digits'] })
    expect(action.use(toolOf(), { digits: '1' }, phone)).toEqual({ ...press('1'), result: 'done' })
  })

  it('a press_digit tool call without digits is ignored', () => {
    expect(action.use(toolOf(), { digits: 'x' }, phone)).toEqual({ next: 'ignore' })
  })

  it('the press_digit tool works on the phone only', () => expect(action.isPhoneOnly).toBe(true))

  it('a press_digit action with an instruction yields a warning that the instruction has no effect', () => {
    expect(action.check?.(toolOf())).toEqual([])
    expect(action.check?.(toolOf({ instruction: { type: 'prompt', text: 'Press 1' } }))).toMatchObject([
      { severity: 'warning', code: 'not_executed', path: ['instruction'] },
    ])
  })
})
