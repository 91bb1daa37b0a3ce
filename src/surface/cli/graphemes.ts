/** The characters of a text as a person counts them. What that needs takes several ms to load, so it waits for the first use. */
let segmenter: Intl.Segmenter | undefined;

export function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}
