<?php
/** Reads the settings of a form. */
function read_settings(array $form): array
{
    $settings = [];
    if (isset($form['name'])) {
        $settings['name'] = trim($form['name']);
    }
    if (isset($form['street'])) {
        $settings['street'] = trim($form['street']);
    }
    if (isset($form['city'])) {
        $settings['city'] = trim($form['city']);
    }
    if (isset($form['zip'])) {
        $settings['zip'] = trim($form['zip']);
    }
    if (isset($form['country'])) {
        $settings['country'] = trim($form['country']);
    }
    if (isset($form['phone'])) {
        $settings['phone'] = trim($form['phone']);
    }
    if (isset($form['mail'])) {
        $settings['mail'] = trim($form['mail']);
    }
    if (isset($form['web'])) {
        $settings['web'] = trim($form['web']);
    }
    if (isset($form['language'])) {
        $settings['language'] = trim($form['language']);
    }
    if (isset($form['currency'])) {
        $settings['currency'] = trim($form['currency']);
    }
    if (isset($form['zone'])) {
        $settings['zone'] = trim($form['zone']);
    }
    if (isset($form['theme'])) {
        $settings['theme'] = trim($form['theme']);
    }
    if (isset($form['font'])) {
        $settings['font'] = trim($form['font']);
    }
    if (isset($form['size'])) {
        $settings['size'] = trim($form['size']);
    }
    if (isset($form['margin'])) {
        $settings['margin'] = trim($form['margin']);
    }
    if (isset($form['border'])) {
        $settings['border'] = trim($form['border']);
    }
    if (isset($form['colour'])) {
        $settings['colour'] = trim($form['colour']);
    }
    if (isset($form['logo'])) {
        $settings['logo'] = trim($form['logo']);
    }
    if (isset($form['header'])) {
        $settings['header'] = trim($form['header']);
    }
    if (isset($form['footer'])) {
        $settings['footer'] = trim($form['footer']);
    }
    if (isset($form['title'])) {
        $settings['title'] = trim($form['title']);
    }
    if (isset($form['summary'])) {
        $settings['summary'] = trim($form['summary']);
    }
    if (isset($form['keywords'])) {
        $settings['keywords'] = trim($form['keywords']);
    }
    if (isset($form['author'])) {
        $settings['author'] = trim($form['author']);
    }
    if (isset($form['licence'])) {
        $settings['licence'] = trim($form['licence']);
    }
    if (isset($form['date'])) {
        $settings['date'] = trim($form['date']);
    }
    if (isset($form['format'])) {
        $settings['format'] = trim($form['format']);
    }
    if (isset($form['order'])) {
        $settings['order'] = trim($form['order']);
    }
    if (isset($form['filter'])) {
        $settings['filter'] = trim($form['filter']);
    }
    if (isset($form['limit'])) {
        $settings['limit'] = trim($form['limit']);
    }
    return $settings;
}
