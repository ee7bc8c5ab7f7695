import { describe, expect, it } from 'vitest'
import { type Redaction, Redactor } from './redactor.ts'

const ALL: Redaction['kinds'] = ['names', 'card_numbers', 'phone_numbers', 'emails']

function conversation(lines: readonly string[], kinds: Redaction['kinds'] = ALL): string[] {
  const redactor = new Redactor({ kinds })
  return lines.map(line => {
    const [role, text] = line.split(': ', 2) as ['agent' | 'user', string]
    return redactor.line({ role, text })
  })
}

describe('texts from which personal data is taken out', () => {
  it.each([
    ['My card is 4111 1111 1111 1111, thanks.', 'My card is [card number], thanks.'],
    ['four one one one one one one one one one one one one one one one', '[card number]'],
    ['Call me at +1 (415) 555-0100.', 'Call me at [phone number].'],
    ['six one seven five five five zero one nine nine', '[phone number]'],
    ['Mi teléfono es nueve uno dos treinta y cuatro cincuenta y seis setenta y ocho', 'Mi teléfono es [phone number]'],
    ['Write to ida.bell@example.com please', 'Write to [e-mail] please'],
    ['it is ida dot bell at example dot com', 'it is [e-mail]'],
    ['es ana arroba ejemplo punto es', 'es [e-mail]'],
    ['My name is Ida Bell and I am new', 'My name is [name] and I am new'],
    ['Me llamo Ana Torres', 'Me llamo [name]'],
    ['I have 3 dogs and 12 cats, room 204 at 9:30', 'I have 3 dogs and 12 cats, room 204 at 9:30'],
    [
      'One moment, I need two tickets for Tuesday the twenty first',
      'One moment, I need two tickets for Tuesday the twenty first',
    ],
  ])('"%s" becomes "%s"', (text, redacted) =>
    expect(new Redactor({ kinds: ALL }).line({ role: 'user', text })).toBe(redacted),
  )

  it('the time for a long text without blanks grows with its length, not with its square', () => {
    for (const part of ['a', 'a.', '1', '(1)', 'one ', 'a dot ', 'soy ']) {
      const text = part.repeat(300_000 / part.length)
      new Redactor({ kinds: ALL }).line({ role: 'user', text })
    }
  })

  it.each([
    ['Write to <ida.bell+pizza@mail.example.com>.', 'Write to <[e-mail]>.'],
    ['it is i.d.a dot bell at example dot co dot uk', 'it is [e-mail]'],
    ['a@b@example.com', 'a@[e-mail]'],
  ])('an address is found whole: "%s"', (text, redacted) =>
    expect(new Redactor({ kinds: ['emails'] }).text(text)).toBe(redacted),
  )

  it('a name that was given once is taken out of everything that follows', () => {
    expect(
      conversation([
        'agent: What is your name?',
        'user: Grace Hopper.',
        'agent: Welcome, Grace. A hopper is a frog.',
        'user: grace here',
      ]),
    ).toEqual(['What is your name?', '[name].', 'Welcome, [name]. A [name] is a frog.', '[name] here'])
  })

  it.each(['name', 'first_name', 'customerFullName', 'nombre_completo'])(
    'a name that the run was given as {{%s}} is taken out of what the agent says',
    variable => {
      const redactor = new Redactor({ kinds: ALL })
      redactor.variables({ [variable]: 'Grace Hopper', company_name: 'Acme', city: 'Oslo', filename: 'Ida' })
      const text = 'Hello Grace Hopper, this is Acme in Oslo. Ida is a file.'
      expect(redactor.line({ role: 'agent', text })).not.toMatch(/Grace|Hopper/)
      expect(redactor.line({ role: 'agent', text: 'Oslo, Ida.' })).toBe('Oslo, Ida.')
      const blind = new Redactor({ kinds: ['emails'] })
      blind.variables({ [variable]: 'Grace' })
      expect(blind.text('Hello Grace')).toBe('Hello Grace')
    },
  )

  it('a number in groups is taken out of each answer to the question for it, and of no other', () => {
    expect(
      conversation([
        'agent: What is your card number?',
        'user: four one one one',
        'user: 1111 11',
        'agent: Thank you. How many people will come?',
        'user: twenty',
      ]),
    ).toEqual([
      'What is your card number?',
      '[card number]',
      '[card number]',
      'Thank you. How many people will come?',
      'twenty',
    ])
  })

  it('only the chosen kinds are taken out', () => {
    const line = 'user: I am at 415 555 0100 or ida@example.com'
    expect(conversation([line], ['emails'])).toEqual(['I am at 415 555 0100 or [e-mail]'])
    expect(conversation([line], ['card_numbers'])).toEqual([line.slice(6)])
  })

  it('keys that hold a number are masked, and a choice of a menu is not', () => {
    const redactor = new Redactor({ kinds: ALL })
    expect(redactor.keys('4155550100#')).toBe('**********#')
    expect(redactor.keys('1')).toBe('1')
    redactor.line({ role: 'agent', text: 'Please key in your card number.' })
    expect(redactor.keys('4111')).toBe('****')
  })

  it('a text of any kind takes little time', () => {
    const long = `${'a '.repeat(2000)}${'1-'.repeat(2000)}${'my name is '.repeat(400)}${'x@'.repeat(1000)}`
    expect(new Redactor({ kinds: ALL }).text(long).length).toBeGreaterThan(1000)
  })
})
