export * from './field-cases.ts'
