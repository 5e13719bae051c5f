interface Props {
  readonly text: string;
  readonly class?: string;
}

/**
 * Words that change. Other words are another element: a browser that translates the page puts texts of its own in the
 * place of ours, and what is written into ours is seen no more.
 */
export const Words = ({ text, class: name }: Props) => (
  <span key={text} class={name}>
    {text}
  </span>
);
