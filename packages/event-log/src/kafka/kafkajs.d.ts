// Parts of kafkajs that it neither exports nor types: who uses one says what it is.
declare module 'kafkajs/src/*' {
  const part: unknown;
  export default part;
}
