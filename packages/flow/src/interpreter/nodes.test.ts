import { describe, expect, it } from 'vitest'
import {
  type DraftNode,
  draftOf,
  ends,
  FlowHarness,
  if_,
  promptText,
  says,
  staticText,
  when,
} from '../testing/flow-harness.ts'

describe('branch', () => {
  const branch: DraftNode = {
    id: 'split',
    type: 'branch',
    edges: [if_('adult', 'a', 'age >= 18'), if_('teen', 'b', '{{age}} > 12')],
    else_edge: when('else', 'c', 'Else'),
  }
  const draft = draftOf([branch, says('a', 'A'), says('b', 'B'), says('c', 'C')])

  it.each([
    ['18', '-> a (edge adult)'],
    ['13', '-> b (edge teen)'],
    ['12', '-> c (else else)'],
    ['many', '-> c (else else)'],
  ])('a branch with the variable age %s moves at once: %s', (age, line) => {
    expect(new FlowHarness(draft, { variables: { run: { age } } }).start()[1]).toBe(line)
  })
})

describe('extract_dynamic_variables', () => {
  const node: DraftNode = {
    id: 'x',
    type: 'extract_dynamic_variables',
    variables: [
      { type: 'string', name: 'who', description: 'Name' },
      { type: 'number', name: 'age', description: 'Age' },
      { type: 'boolean', name: 'member', description: 'Member?' },
      { type: 'enum', name: 'size', description: 'Size', choices: ['Small', 'Large'] },
    ],
    edges: [if_('big', 'end', 'size == Large')],
    else_edge: when('else', 'hi', 'Else'),
  }

  it('an extraction stores values that match their types, as text, and moves on', () => {
    const talk = new FlowHarness(draftOf([node, says('hi', '{{who}} {{age}} {{member}} {{size}}'), ends()]))
    expect(talk.start()).toEqual(['-> x (start)', 'extract: who, age, member, size'])
    expect(talk.infer({ who: 'Ada', age: '36', member: true, size: 'small', other: 1 })).toEqual([
      'extract set who,age,member,size',
      '-> hi (else else)',
      'say: Ada 36 true Small',
    ])
  })

  it('an extraction leaves variables without a matching value undefined', () => {
    const talk = new FlowHarness(draftOf([node, says('hi', '{{who}}{{age}}{{member}}{{size}}!'), ends()]))
    talk.start()
    expect(talk.infer({ who: {}, age: 'old', member: 'perhaps', size: 'Huge' })).toEqual([
      '-> hi (else else)',
      'say: !',
    ])
    expect(talk.value('age')).toBeUndefined()
  })
})

describe('press_digit', () => {
  const menu = { edges: [when('menu', 'end', 'the menu was left')] }

  it('a press_digit node sends its static digits and moves on after a turn of the far end', () => {
    const talk = new FlowHarness(
      draftOf([
        { id: 'p', type: 'press_digit', instruction: staticText('1w{{code}}#'), delay_ms: 500, ...menu },
        ends(),
      ]),
      { variables: { run: { code: '4 2;' } } },
    )
    expect(talk.start()).toEqual(['-> p (start)', 'press 1w42# after 500'])
    expect(talk.pressed()).toEqual([])
    expect(talk.user('Your call is being connected')).toEqual(['decide: [edge:menu]'])
    expect(talk.choose(null)).toEqual([])
    talk.user('Thank you')
    expect(talk.choose('edge:menu')).toEqual(['-> end (edge menu)', 'end: completed by agent'])
  })

  it('a press_digit node with a prompt asks the model for digits at every menu', () => {
    const talk = new FlowHarness(
      draftOf([{ id: 'p', type: 'press_digit', instruction: promptText('Reach billing.'), ...menu }, ends()]),
    )
    expect(talk.start()).toEqual(['-> p (start)', 'infer digits: Reach billing.'])
    expect(talk.infer('')).toEqual([])
    talk.user('For billing press 3')
    expect(talk.choose(null)).toEqual(['infer digits: Reach billing.'])
    expect(talk.infer('3')).toEqual(['press 3 after 1000'])
  })

  it('a press_digit node on a text channel sends no digits', () => {
    const talk = new FlowHarness(
      draftOf([
        { id: 'p', type: 'press_digit', instruction: staticText('1'), else_edge: when('else', 'end', 'Else') },
        ends(),
      ]),
      { channel: 'cloud' },
    )
    expect(talk.start()).toEqual(['-> p (start)', '-> end (else else)', 'end: completed by agent'])
  })
})

describe('transfer_call', () => {
  const node = (transfer_destination: object, rest = {}) =>
    ({
      id: 't',
      type: 'transfer_call',
      transfer_destination,
      edge: when('failed', 'sorry', 'Transfer failed'),
      ...rest,
    }) as DraftNode
  const sorry = says('sorry', 'Nobody is free.')

  it('an accepted transfer ends the conversation', () => {
    const talk = new FlowHarness(
      draftOf([
        node({ type: 'predefined', number: '{{desk}}' }, { custom_sip_headers: { 'X-Who': '{{who}}' } }),
        sorry,
      ]),
      {
        variables: { run: { desk: '+15550100', who: 'Ada\r\nX-Evil: 1' } },
      },
    )
    expect(talk.start()).toEqual(['-> t (start)', 'transfer to +15550100'])
    expect(talk.outputs.at(-1)).toMatchObject({ custom_sip_headers: { 'X-Who': 'Ada  X-Evil: 1' } })
    expect(talk.user('Hello?')).toEqual([])
    expect(talk.transferred('taken')).toEqual(['end: transferred by agent'])
  })

  it('a failed transfer takes the failure edge', () => {
    const talk = new FlowHarness(draftOf([node({ type: 'predefined', number: '+15550100' }), sorry]))
    talk.start()
    expect(talk.transferred('failed')).toEqual(['-> sorry (failure failed)', 'say: Nobody is free.'])
  })

  it('an inferred transfer destination comes from the model, and no answer takes the failure edge', () => {
    const draft = draftOf([node({ type: 'inferred', prompt: 'The shop nearest to them.' }), sorry])
    const talk = new FlowHarness(draft)
    expect(talk.start()).toEqual(['-> t (start)', 'infer transfer_destination: The shop nearest to them.'])
    expect(talk.infer('+15550111')).toEqual(['transfer to +15550111'])
    const none = new FlowHarness(draft)
    none.start()
    expect(none.infer(null)).toEqual(['-> sorry (failure failed)', 'say: Nobody is free.'])
  })

  it('a transfer on a channel other than the phone takes the failure edge', () => {
    const talk = new FlowHarness(draftOf([node({ type: 'predefined', number: '+15550100' }), sorry]), {
      channel: 'web',
    })
    expect(talk.start()).toEqual(['-> t (start)', '-> sorry (failure failed)', 'say: Nobody is free.'])
  })
})

describe('end', () => {
  it('last words of which nothing was heard because the caller spoke are said once more after the turn of the caller, or when silence follows', () => {
    const end: DraftNode = { id: 'end', type: 'end', instruction: staticText('Goodbye.'), speak_during_execution: true }
    const begun = () => {
      const talk = new FlowHarness(draftOf([end]))
      talk.start()
      return talk
    }
    const turn = begun()
    expect(turn.spoken(true, true)).toEqual([])
    expect(turn.user('Wait')).toEqual(['say: Goodbye.'])
    expect(turn.spoken(true, true)).toEqual(['end: completed by agent'])

    const quiet = begun()
    quiet.spoken(true, true)
    expect(quiet.send({ type: 'silence', kind: 'owed' })).toEqual(['say: Goodbye.'])

    const over = begun()
    over.user('Wait')
    expect(over.spoken(true, true)).toEqual(['say: Goodbye.'])

    expect(begun().spoken(true)).toEqual(['end: completed by agent'])
  })

  it('an end node with speak_during_execution speaks before it ends, whatever the caller says', () => {
    const end: DraftNode = { id: 'end', type: 'end', instruction: staticText('Goodbye.'), speak_during_execution: true }
    const talk = new FlowHarness(draftOf([end]))
    expect(talk.start()).toEqual(['-> end (start)', 'say: Goodbye.'])
    expect(talk.user('Bye')).toEqual([])
    expect(talk.spoken()).toEqual(['end: completed by agent'])
  })
})
