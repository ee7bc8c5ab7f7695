import { describe, expect, it } from 'vitest'
import { draftOf, ends, FlowHarness, says } from '../testing/flow-harness.ts'
import { valueAt } from './response-path.ts'
import { render } from './template.ts'

const extract = {
  id: 'x',
  type: 'extract_dynamic_variables',
  variables: [{ type: 'string', name: 'v', description: 'V' }],
  else_edge: { id: 'e', transition_condition: { type: 'prompt', prompt: 'Else' }, destination_node_id: 'hi' },
} as const
const draft = (names: string[]) =>
  draftOf(
    [{ ...extract, variables: [...extract.variables], else_edge: { ...extract.else_edge } }, says('hi', 'Hi'), ends()],
    {
      default_dynamic_variables: Object.fromEntries(names.map(name => [name, 'default'])),
    },
  )

describe('precedence of variables', () => {
  it('a variable takes its value from run updates, extractions, run creation, inbound context and defaults, in this order', () => {
    const talk = new FlowHarness(draft(['v']))
    expect(talk.value('v')).toBe('default')
    const called = new FlowHarness(draft(['v']), { variables: { inbound_context: { v: 'context' } } })
    expect(called.start()[0]).toBe('inbound_context set v')
    expect(called.value('v')).toBe('context')
    const created = new FlowHarness(draft(['v']), {
      variables: { inbound_context: { v: 'context' }, run: { v: 'run' } },
    })
    created.start()
    expect(created.value('v')).toBe('run')
    const extracting = created.request
    expect(created.send({ type: 'variables_updated', values: { v: 'update', 'no}name': 'x' } })).toEqual([
      'update set v ignored no}name',
    ])
    expect(created.send({ type: 'inferred', request_id: extracting, value: { v: 'extracted' } })[0]).toBe(
      'extract set v',
    )
    expect(created.value('v')).toBe('update')
  })

  it('an extracted value wins over the value from run creation', () => {
    const talk = new FlowHarness(draft([]), { variables: { run: { v: 'run' } } })
    talk.start()
    talk.infer({ v: 'extracted' })
    expect(talk.value('v')).toBe('extracted')
  })

  it('a system variable cannot be overwritten', () => {
    const talk = new FlowHarness(draft([]), { variables: { run: { current_digits: '1' } } })
    expect(talk.start()[0]).toBe('update set  ignored current_digits')
    expect(
      talk.send({ type: 'variables_updated', values: { current_time: 'noon', previous_agent_state: 'x', ok: 'y' } }),
    ).toEqual(['update set ok ignored current_time,previous_agent_state'])
    expect(talk.value('current_digits')).toBeUndefined()
  })
})

describe('system variables', () => {
  it('system variables give the time in the time zone of the agent and in any named one', () => {
    const talk = new FlowHarness({ ...draft([]), settings: { timezone: 'Europe/Madrid' } })
    expect(talk.value('current_time')).toContain('Monday, January 5, 2026 at 10:30')
    expect(talk.value('current_time_America/New_York')).toContain('4:30')
    expect(talk.value('current_time_Nowhere')).toBeUndefined()
    expect(talk.value('current_calendar')?.split('\n')[0]).toBe('Monday, January 5, 2026 (today)')
    expect(talk.value('current_calendar')?.split('\n').length).toBe(14)
  })
})

describe('a template', () => {
  it('a template is filled in once, so values are never templates, and undefined variables are empty', () => {
    const values: Record<string, string> = { a: '{{b}}', b: '$& secret' }
    expect(render('<{{a}}|{{ b }}|{{c}}|{{}}|{a}>', name => values[name])).toBe('<{{b}}|$& secret||{{}}|{a}>')
  })
})

it('a template with many long variables has a bounded result', () => {
  const long = 'x'.repeat(8192)
  expect(render('{{a}}'.repeat(13_000), () => long).length).toBeLessThanOrEqual(131_072)
})

describe('a path into an action response', () => {
  it.each([
    ['$.slots[0].time', '9'],
    ['slots.0.time', '9'],
    ["$['slots'][0]['time']", '9'],
    ['$.constructor', undefined],
    ['$.slots[7].time', undefined],
    ['$..', undefined],
    ['', { slots: [{ time: '9' }] }],
  ])('the path %s into a response reads %j', (path, expected) => {
    expect(valueAt({ slots: [{ time: '9' }] }, path)).toEqual(expected)
  })
})
