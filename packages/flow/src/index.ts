export { isSystemVariable, VARIABLE_NAME } from './plan/names.ts'
