import { expect, it } from 'vitest'
import { errorsOf, ParleyError } from './errors.ts'

const LineError = errorsOf({
  line_busy: { retryable: true, text: 'the line is busy: try again later' },
  line_closed: { retryable: false, text: 'the line is closed' },
})
const RunError = errorsOf({
  line_busy: { retryable: false, text: 'the line of the run is busy' },
  run_lost: { retryable: false, text: 'another process owns the run' },
})

it("an error takes its text and whether it is retryable from the package's table", () => {
  expect(new LineError('line_busy')).toMatchObject({
    name: 'ParleyError',
    code: 'line_busy',
    retryable: true,
    message: 'the line is busy: try again later',
  })
  expect(new LineError('line_closed', 'closed by the operator', { retryable: true })).toMatchObject({
    retryable: true,
    message: 'closed by the operator',
  })
})

it('an error keeps its cause', () => {
  const cause = new Error('EPIPE')
  expect(new LineError('line_closed', 'closed', { cause }).cause).toBe(cause)
})

it('an error is recognised by its code, whichever package threw it', () => {
  expect(LineError.is(new LineError('line_busy'), 'line_busy', 'line_closed')).toBe(true)
  expect(LineError.is(new LineError('line_busy'), 'line_closed')).toBe(false)
  expect(LineError.is(new RunError('line_busy'), 'line_busy')).toBe(true)
  expect(LineError.is(new RunError('line_busy'))).toBe(true)
  expect(LineError.is(new RunError('run_lost'))).toBe(false)
  expect(LineError.is({ code: 'line_busy' }, 'line_busy')).toBe(false)
  expect(new RunError('run_lost')).toBeInstanceOf(ParleyError)
})

it('a code that the table does not have is a type error', () => {
  // @ts-expect-error: no such code
  expect(() => new LineError('line_bussy')).toThrow()
  // @ts-expect-error: no such code
  expect(LineError.is(new LineError('line_busy'), 'line_bussy')).toBe(false)
})

it('an error without a table is a type error', () => {
  // @ts-expect-error: the constructor is private
  expect(() => new ParleyError('line_busy', 'of no table', {})).not.toThrow()
  // @ts-expect-error: only errorsOf extends the class
  expect(() => class extends ParleyError<string> {}).not.toThrow()
})
