import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { GenerationBrief, GenerationRequest } from '../../language-model/language-model.ts'
import { decide } from './decision.ts'
import { RulesModel } from './rules-model.ts'

const WORDS =
  'yes no not never name is ada tuesday at three half past one two hundred thousand please the caller wants to say ask for and or if "quoted" \'it\' [pressed 12#] + 555 0100 @ dot com 10:30 2026-05-05 sí no quiero mañana a las cuatro el cliente pide su nombre ¿qué? … __proto__ constructor toString hasOwnProperty'.split(
    ' ',
  )
const text = fc.oneof(
  fc.array(fc.constantFrom(...WORDS), { maxLength: 25 }).map(words => words.join(' ')),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
)
const language = fc.constantFrom('en', 'es', 'en-US', 'multi', 'xx', '')
const name = fc.constantFrom(
  'name',
  'day',
  'time',
  'phone',
  'email',
  'count',
  'code',
  'note',
  '__proto__',
  'constructor',
)

const leaf = fc.record(
  {
    type: fc.constantFrom('string', 'integer', 'number', 'boolean', 'array', ['null', 'string'], 'nonsense'),
    description: text,
    enum: fc.array(fc.oneof(text, fc.integer()), { maxLength: 4 }),
    format: fc.constantFrom('date', 'time', 'email', 'uuid'),
    minimum: fc.integer(),
    maxLength: fc.nat(50),
    items: fc.record({ type: fc.constant('string'), enum: fc.array(text, { maxLength: 3 }) }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
)
const schema = fc.oneof(
  fc
    .record({
      properties: fc.dictionary(name, fc.oneof(leaf, fc.anything()), { maxKeys: 6 }),
      required: fc.array(name),
    })
    .map(object => ({ type: 'object', ...object })),
  fc.dictionary(text, fc.jsonValue()),
)
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('user' as const, 'system' as const), content: text }),
  fc.record({ role: fc.constant('assistant' as const), content: text }),
  fc.record({
    role: fc.constant('assistant' as const),
    content: text,
    toolCalls: fc.array(fc.record({ id: text, name, argumentsText: text }), { maxLength: 2 }),
  }),
  fc.record({ role: fc.constant('tool' as const), toolCallId: text, content: fc.oneof(text, fc.json()) }),
)
const tool = fc.record({ name, description: text, parameters: schema })
const transitions = fc.array(fc.record({ tool: name, condition: text }), { maxLength: 5 })
const brief: fc.Arbitrary<GenerationBrief> = fc.oneof(
  fc.record({
    purpose: fc.constant('reply' as const),
    language,
    instruction: text,
    reason: fc.constantFrom(
      'enter',
      'user_turn',
      'reminder',
      'return',
      'tool_result',
      'during_execution',
      'stuck',
      'x',
    ),
    transitions,
  }),
  fc.record({ purpose: fc.constant('decide' as const), language, transitions }),
  fc.record({
    purpose: fc.constantFrom(
      'arguments' as const,
      'digits' as const,
      'transfer_destination' as const,
      'variables' as const,
    ),
    language,
    prompt: text,
    tool: name,
  }),
)
const request: fc.Arbitrary<GenerationRequest> = fc.record(
  {
    messages: fc.array(message, { minLength: 1, maxLength: 12 }),
    tools: fc.array(tool, { maxLength: 4 }),
    toolChoice: fc.oneof(fc.constantFrom('auto' as const, 'none' as const, 'required' as const), fc.record({ name })),
    brief,
  },
  { requiredKeys: ['messages'] },
)

describe('rules-1 for arbitrary requests', () => {
  it('rules-1 finishes every answer, calls only offered tools, and decides the same each time', async () => {
    await fc.assert(
      fc.asyncProperty(request, async generated => {
        const events = []
        for await (const event of new RulesModel().generate(generated, new AbortController().signal)) events.push(event)
        expect(events.at(-1)?.type).toBe('finished')
        expect(events.filter(({ type }) => type === 'finished')).toHaveLength(1)
        expect(events.filter(event => event.type === 'text' && event.delta === '')).toEqual([])
        const call = events.find(event => event.type === 'tool-call')
        if (call !== undefined) expect(generated.tools?.map(({ name: offered }) => offered)).toContain(call.call.name)
        expect(decide(generated)).toEqual(decide(generated))
      }),
      { numRuns: 800 },
    )
  })

  it('rules-1 fills in only values that fit the schema', () => {
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 8 }),
        fc.dictionary(name, leaf, { minKeys: 1, maxKeys: 6 }),
        language,
        (messages, properties, spoken) => {
          const parameters = { type: 'object', properties, required: Object.keys(properties) }
          const { call } = decide({
            messages,
            tools: [{ name: 'fill', description: '', parameters }],
            brief: { purpose: 'arguments', language: spoken, prompt: '', tool: 'fill' },
          })
          for (const [key, value] of Object.entries(call?.arguments ?? {})) {
            expect(Object.keys(properties)).toContain(key)
            expectFit(value, properties[key]!)
          }
        },
      ),
      { numRuns: 800 },
    )
  })

  it.each([
    ['a word', 'a'.repeat(200_000)],
    ['blanks', ' '.repeat(200_000)],
    ['quotes', '"\''.repeat(100_000)],
    ['brackets', '['.repeat(200_000)],
    ['figures', '1 '.repeat(100_000)],
    ['dots and ats', 'a at b dot '.repeat(20_000)],
    ['questions', 'what? '.repeat(40_000)],
    ['commas', ', and ask '.repeat(20_000)],
    ['negations', 'not or '.repeat(30_000)],
  ])('rules-1 stays within its processor time for endless %s', (_name, endless) => {
    // Processor time: the machine may be busy with other tests.
    const before = process.cpuUsage()
    const properties = Object.fromEntries(
      ['name', 'phone', 'email', 'day', 'time', 'count', 'note'].map(key => [
        key,
        { type: 'string', description: endless },
      ]),
    )
    const tools = [
      { name: 'fill', description: endless, parameters: { type: 'object', properties, required: ['name'] } },
    ]
    const messages = [
      { role: 'assistant', content: endless } as const,
      { role: 'user', content: endless } as const,
      { role: 'tool', toolCallId: 'x', content: endless } as const,
      { role: 'user', content: endless } as const,
    ]
    const ways = [{ tool: 'fill', condition: endless }]
    for (const reason of ['enter', 'user_turn', 'tool_result'])
      decide({
        messages,
        tools,
        brief: { purpose: 'reply', language: 'en', instruction: endless, reason, transitions: ways },
      })
    decide({ messages, tools, brief: { purpose: 'arguments', language: 'es', prompt: endless, tool: 'fill' } })
    const { user } = process.cpuUsage(before)
    expect(user / 1000).toBeLessThan(5000)
  })
})

function expectFit(value: unknown, wanted: Readonly<Record<string, unknown>>): void {
  const members = Array.isArray(wanted.enum)
    ? wanted.enum.filter(member => ['string', 'number'].includes(typeof member))
    : []
  if (members.length > 0) return expect(members).toContain(value)
  const type = Array.isArray(wanted.type) ? 'string' : wanted.type
  if (type === 'integer') expect(Number.isSafeInteger(value)).toBe(true)
  else if (type === 'number') expect(Number.isFinite(value)).toBe(true)
  else if (type === 'array') expect(Array.isArray(value)).toBe(true)
  else expect(typeof value).toBe(type === 'boolean' ? 'boolean' : 'string')
  if (typeof wanted.minimum === 'number' && typeof value === 'number')
    expect(value).toBeGreaterThanOrEqual(wanted.minimum)
}
